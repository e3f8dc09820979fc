package metric_test

import (
	"math"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// datagrams is handMade with the kernel's account of UDP over windows of 1 s.
func datagrams(t *testing.T) *record.Record {
	t.Helper()
	r := handMade(t)
	for i := range r.Workers {
		w := &r.Workers[i]
		w.Open.Meter.UDP = &contract.UDP{In: 1000, Out: 500, Sockets: 2, Drops: 3, SendBufferErrors: 1}
		w.Close.Meter.UDP = &contract.UDP{
			In: 9000, Out: 1500, Sockets: 2, Drops: 13, NoPorts: 2, InErrors: 18, ReceiveBufferErrors: 10, SendBufferErrors: 6,
		}
	}
	return r
}

func TestUDPMetricsByHand(t *testing.T) {
	seconds := func(r *record.Record) float64 {
		return float64(r.Workers[0].Close.Meter.AtNs-r.Workers[0].Open.Meter.AtNs) / 1e9
	}
	r := datagrams(t)
	s := seconds(r)
	checkValues(t, r, map[string]float64{
		"server.udp_drops_per_s": 10 / s, "server.udp_undelivered_per_s": 20 / s, "server.udp_failed_sends_per_s": 5 / s,
		"udp_datagrams_per_send": 8,
	})
	// Sockets that are not the same at both edges have no drops to tell.
	r.Workers[0].Close.Meter.UDP.Sockets = 1
	checkValues(t, r, map[string]float64{"server.udp_drops_per_s": math.NaN(), "server.udp_undelivered_per_s": 20 / s})
	r.Workers[0].Close.Meter.UDP = nil
	checkValues(t, r, map[string]float64{"server.udp_undelivered_per_s": math.NaN(), "udp_datagrams_per_send": math.NaN()})
}
