package metric_test

import (
	"math"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// accounted is handMade with the kernel's account: the server's 3 connections
// were busy for 2.4 of 3 s and held back for 1.2 and 0.6 s of it.
func accounted(t *testing.T) *record.Record {
	t.Helper()
	r := handMade(t)
	ms := int64(1_000_000)
	r.Workers[0].Open.Meter.TCP = &contract.TCP{Sockets: 3, BusyNs: 100 * ms, ReceiveWindowNs: 50 * ms, SentSegments: 500, Retransmits: 7, RTTNs: 1, ReceiveBufferedBytes: 3000}
	opened := r.Workers[0].Open.Meter.AtNs
	r.Workers[0].Metered = []contract.Meter{ // one of the connections; what was read before the window says nothing
		{AtNs: opened - 1, TCP: &contract.TCP{Sockets: 1, ReceiveBufferedBytes: 1 << 30}},
		{AtNs: opened + 1, TCP: &contract.TCP{Sockets: 1, ReceiveBufferedBytes: 5000}},
	}
	r.Workers[0].Close.Meter.TCP = &contract.TCP{
		Sockets: 3, BusyNs: 2500 * ms, ReceiveWindowNs: 1250 * ms, SendBufferNs: 600 * ms, SentSegments: 1500, Retransmits: 17,
		ReceiveBufferedBytes: 9000, RTTNs: 250_000, MinRTTNs: 40_000, CongestionWindow: 10, SegmentBytes: 1448, DeliveryBytesPerS: 9000,
	}
	for i, rtt := range []int64{100_000, 400_000} {
		w := &r.Workers[i+1] // one connection, and two
		w.Open.Meter.TCP = &contract.TCP{Sockets: i + 1, BusyNs: 0}
		w.Close.Meter.TCP = &contract.TCP{Sockets: i + 1, BusyNs: 600 * ms, RTTNs: rtt, DeliveryBytesPerS: 500}
	}
	return r
}

func TestTCPMetricsByHand(t *testing.T) {
	r := accounted(t)
	checkValues(t, r, map[string]float64{
		"server.tcp_rtt_us":                  250,
		"server.tcp_queueing_us":             210,
		"client.tcp_queueing_us":             300,
		"server.tcp_congestion_window_bytes": 14480,
		"server.tcp_retransmit_share":        0.01,
		"server.tcp_busy_share":              0.8,
		"server.tcp_receive_window_share":    0.5,
		"server.tcp_send_buffer_share":       0.25,
		"server.tcp_delivery_bytes_per_s":    9000,
		"server.unread_bytes":                9000, // (3000 + 9000 + 3 × 5000) / 3
		"client.tcp_rtt_us":                  300,  // of three connections; averaging the clients would give 250
		"client.tcp_retransmit_share":        math.NaN(),
		"client.tcp_busy_share":              0.4,
		"client.tcp_receive_window_share":    0,
		"client.tcp_delivery_bytes_per_s":    1000,
	})
}

// Sums over other connections say nothing, nor does half an account.
func TestTCPMetricsNeedTheSameConnections(t *testing.T) {
	for name, spoil := range map[string]func(*record.Record){
		"other number": func(r *record.Record) { r.Workers[1].Close.Meter.TCP.Sockets++ },
		"none": func(r *record.Record) {
			r.Workers[1].Open.Meter.TCP.Sockets, r.Workers[1].Close.Meter.TCP.Sockets = 0, 0
		},
		"absent at open":   func(r *record.Record) { r.Workers[2].Open.Meter.TCP = nil },
		"absent at close":  func(r *record.Record) { r.Workers[2].Close.Meter.TCP = nil },
		"unmetered":        func(r *record.Record) { r.Workers[2].Close.Meter = nil },
		"counter ran back": func(r *record.Record) { r.Workers[1].Open.Meter.TCP.BusyNs = 700_000_000 },
		"garbled counter":  func(r *record.Record) { r.Workers[1].Open.Meter.TCP.AckedBytes = 1 },
	} {
		r := accounted(t)
		spoil(r)
		for _, m := range []string{"client.tcp_busy_share", "client.tcp_rtt_us"} {
			if got := value(t, m, r); !math.IsNaN(got) {
				t.Errorf("%s: %s = %v, want none", name, m, got)
			}
		}
		if got := value(t, "server.tcp_rtt_us", r); got != 250 {
			t.Errorf("%s: the other end's rtt is %v", name, got)
		}
	}
}

func TestLinkIsWhatCarriedTheTraffic(t *testing.T) {
	r := handMade(t)
	for i := range r.Workers {
		r.Workers[i].Seat = "west"
	}
	link := func() string {
		name, ok := record.NewWindow(r).Link()
		if ok != (name != "") {
			t.Errorf("link %q, known %t", name, ok)
		}
		return name
	}
	if got := link(); got != "west/eth0" {
		t.Errorf("two clients of one seat: %q", got)
	}
	r.Workers[2].Seat = "east"
	if got := link(); got != "east/eth0 west/eth0" {
		t.Errorf("two seats: %q", got)
	}
	r.Workers[2].Close.Meter.Interfaces.Delete("eth0")
	if got := link(); got != "" {
		t.Errorf("over loopback: %q, want none", got)
	}
	r.Workers[2].Close = nil
	if got := link(); got != "" {
		t.Errorf("a client without its edge: %q, want none", got)
	}
}

func TestArrivingIsByEnd(t *testing.T) {
	w := record.NewWindow(handMade(t))
	if got, ok := metric.Arriving(w, contract.Client); !ok || got != 300_000 {
		t.Errorf("at the clients: %v, %t", got, ok)
	}
	if got, ok := metric.Arriving(w, contract.Server); !ok || got != 150_000 {
		t.Errorf("at the server: %v, %t", got, ok)
	}
	w.Record.Workers[0].Ready = &contract.Ready{Foreign: true}
	if got, ok := metric.Arriving(w, contract.Server); ok {
		t.Errorf("at a server that cannot count: %v", got)
	}
}
