package metric

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// connectionMetrics say how evenly the clients' connections share what they
// move: streams that are many and unequal hide in a sum.
func connectionMetrics() []Metric {
	const from = "TCP payload per second, in the direction of the goodput, of the clients' %s connection, as the kernel counts it; at most 64 connections at each client, all under load"
	return []Metric{
		{
			Name: SlowestConnection, Unit: "B/s", Better: Higher, Label: "slowest connection", Doc: "rate of the slowest connection",
			Formula: fmt.Sprintf(from, "slowest"),
			in: func(w *record.Window) (float64, bool) {
				rates, ok := connectionRates(w)
				least := 0.0
				for i, rate := range rates {
					if i == 0 || rate < least {
						least = rate
					}
				}
				return least, ok
			},
		},
		{
			Name: FastestConnection, Unit: "B/s", Better: Higher, Label: "fastest connection", Doc: "rate of the fastest connection",
			Formula: fmt.Sprintf(from, "fastest"),
			in: func(w *record.Window) (float64, bool) {
				rates, ok := connectionRates(w)
				most := 0.0
				for _, rate := range rates {
					most = max(most, rate)
				}
				return most, ok
			},
		},
		{
			Name: "bytes_per_event", Unit: "B", Label: "bytes per event", Doc: "bytes that an event brought the client's program",
			Formula: "bytes received ÷ messages, both as the clients' programs count them over their whole run (muduo, evpp): what there was to read, not the block that was sent",
			in: func(w *record.Window) (float64, bool) {
				bytes, messages := 0.0, 0.0
				for i := range w.Record.Workers {
					worker := &w.Record.Workers[i]
					if worker.Role != contract.Client {
						continue
					}
					if worker.Result == nil {
						return 0, false
					}
					bytes += worker.Result.Own["received_bytes"]
					messages += worker.Result.Own["messages"]
				}
				return bytes / messages, messages > 0
			},
		},
	}
}

// connectionRates returns each connection's bytes per second, in the direction
// that goodput is about; false where a client does not have every connection's
// counters, or some connections carry no load by design.
func connectionRates(w *record.Window) ([]float64, bool) {
	up, down, ok := w.Directions()
	clients, known := w.Spans(contract.Client)
	if !ok || !known {
		return nil, false
	}
	var rates []float64
	for _, s := range clients {
		from, to, same := s.TCP()
		length, timed := meteredSeconds(s)
		idle := s.Worker.Setup == nil || s.Worker.Setup.Load.ActiveShare > 0 && s.Worker.Setup.Load.ActiveShare < 1
		if !same || !timed || idle || len(to.Each) != to.Sockets || len(from.Each) != len(to.Each) {
			return nil, false
		}
		for i, after := range to.Each {
			before := from.Each[i]
			grown := 0.0
			if up {
				grown += record.Growth(before.AckedBytes, after.AckedBytes)
			}
			if down {
				grown += record.Growth(before.ReceivedBytes, after.ReceivedBytes)
			}
			if after.Inode != before.Inode || grown < 0 {
				return nil, false
			}
			rates = append(rates, grown/length)
		}
	}
	return rates, len(rates) > 0
}
