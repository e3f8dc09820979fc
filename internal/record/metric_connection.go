package record

import "netdyno/internal/contract"

// connectionMetrics say how evenly the clients' connections share what they
// move: streams that are many and unequal hide in a sum.
func connectionMetrics() []Metric {
	const from = "of the clients' connections by the kernel's account, what goodput is about, TCP payload per second between the meter's edges; of at most 64 connections at each client"
	return []Metric{
		{
			Name: "slowest_connection_bytes_per_s", Unit: "B/s", Better: Higher, Doc: "rate of the slowest connection",
			Formula: "least " + from,
			in: func(w *Window) (float64, bool) {
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
			Name: "fastest_connection_bytes_per_s", Unit: "B/s", Better: Higher, Doc: "rate of the fastest connection",
			Formula: "most " + from,
			in: func(w *Window) (float64, bool) {
				rates, ok := connectionRates(w)
				most := 0.0
				for _, rate := range rates {
					most = max(most, rate)
				}
				return most, ok
			},
		},
	}
}

// connectionRates returns each connection's bytes per second, in the direction
// that goodput is about; false where a client lacks the account of each, or
// some connections carry no load by design.
func connectionRates(w *Window) ([]float64, bool) {
	up, down, ok := directions(w)
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
				grown += delta(before.AckedBytes, after.AckedBytes)
			}
			if down {
				grown += delta(before.ReceivedBytes, after.ReceivedBytes)
			}
			if after.Inode != before.Inode || grown < 0 {
				return nil, false
			}
			rates = append(rates, grown/length)
		}
	}
	return rates, len(rates) > 0
}
