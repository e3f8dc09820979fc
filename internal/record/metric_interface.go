package record

import (
	"fmt"
	"math"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
)

// interfaceMetrics are what the clients' interfaces carried each second, and
// how much of its nominal rate the busiest cable did.
func interfaceMetrics() []Metric {
	const from = "Σ clients' hosts: what the busiest interface %s each second between the clients' edges, headers and other traffic included; loopback counts every packet in both directions"
	rate := func(name, unit, doc, formula string, of func(contract.Interface) int64) Metric {
		return Metric{
			Name: name, Unit: unit, Doc: doc, Formula: formula,
			in: func(w *Window) (float64, bool) { return interfaceRate(w, of) },
		}
	}
	return []Metric{
		rate("link_rx_bytes_per_s", "B/s", "bytes received by the interfaces", fmt.Sprintf(from, "received"),
			func(i contract.Interface) int64 { return i.ReceivedBytes }),
		rate("link_tx_bytes_per_s", "B/s", "bytes sent by the interfaces", fmt.Sprintf(from, "sent"),
			func(i contract.Interface) int64 { return i.SentBytes }),
		rate("link_rx_packets_per_s", "1/s", "packets received by the interfaces", fmt.Sprintf(from, "received, in packets,"),
			func(i contract.Interface) int64 { return i.ReceivedPackets }),
		rate("link_tx_packets_per_s", "1/s", "packets sent by the interfaces", fmt.Sprintf(from, "sent, in packets,"),
			func(i contract.Interface) int64 { return i.SentPackets }),
		{
			Name: "link_rate_share", Unit: "share", Doc: "share of the link's nominal rate",
			Formula: "bits each second in the busier direction of the busiest interface of any end ÷ its nominal rate, headers and other traffic included: " +
				"the lower of factor link.rate and of the network card's speed among the facts; never on loopback",
			in: linkRateShare,
		},
	}
}

// interfaceRate sums a counter's growth per second over the clients' seats.
func interfaceRate(w *Window, of func(contract.Interface) int64) (float64, bool) {
	return overSeats(w, meteredSeconds, func(_ string, before, after contract.Interface) float64 {
		return delta(of(before), of(after))
	})
}

// overSeats sums what grew on the clients' busiest interfaces, each divided by its
// length: clients of one seat see the same interfaces, which count once, by the
// client that saw the most of them. A growth below 0 is unknown, and so is the sum.
func overSeats(w *Window, length func(Span) (float64, bool), grown func(name string, before, after contract.Interface) float64) (float64, bool) {
	clients, ok := w.Spans(contract.Client)
	if !ok {
		return 0, false
	}
	seats := map[string]float64{}
	for _, s := range clients {
		name, known := busiestInterface(s)
		l, timed := length(s)
		if !known || !timed {
			return 0, false
		}
		more := grown(name, s.From.Meter.Interfaces[name], s.To.Meter.Interfaces[name])
		if more < 0 {
			return 0, false
		}
		seats[s.Worker.Seat] = max(seats[s.Worker.Seat], more/l)
	}
	sum := 0.0
	for _, x := range seats {
		sum += x
	}
	return sum, true
}

// linkRateShare is the largest share over all ends: where two clients meet one
// server, its cable is full before theirs are.
func linkRateShare(w *Window) (float64, bool) {
	most, known := 0.0, false
	for i := range w.Record.Workers {
		worker := &w.Record.Workers[i]
		span, ok := w.Span(worker)
		if !ok || worker.Elsewhere() {
			continue
		}
		name, carried := busiestInterface(span)
		length, timed := meteredSeconds(span)
		if !carried || !timed || name == loopback {
			continue
		}
		nominal, rated := w.nominal(worker.Seat + "/" + name)
		if !rated {
			continue
		}
		before, after := span.From.Meter.Interfaces[name], span.To.Meter.Interfaces[name]
		busier := max(delta(before.ReceivedBytes, after.ReceivedBytes), delta(before.SentBytes, after.SentBytes))
		if busier < 0 {
			return 0, false
		}
		most, known = max(most, busier/length*8/nominal), true
	}
	return most, known
}

// nominal returns the rate of an interface, "seat/eth0", in bits per second.
func (w *Window) nominal(name string) (float64, bool) {
	lowest := math.Inf(1)
	if rate, err := quantity.ParseBitRate(w.Record.Trial.Levels["link.rate"]); err == nil && rate > 0 {
		lowest = float64(rate)
	}
	if rate := w.Nominal[name]; rate > 0 {
		lowest = min(lowest, rate)
	}
	return lowest, !math.IsInf(lowest, 1)
}
