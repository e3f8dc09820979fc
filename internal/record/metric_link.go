package record

import (
	"slices"
	"strings"

	"netdyno/internal/contract"
)

// linkMetrics are what crossed the link for one exchange: payload, headers,
// acknowledgements and retransmissions, both directions.
func linkMetrics() []Metric {
	const from = "what the clients' busiest interface sent and received between the clients' edges; loopback carries each packet once, " +
		"and everything else there is counted too; "
	return []Metric{
		{
			Name: "link_bytes_per_exchange", Unit: "B", Better: Lower, Doc: "bytes on the link per exchange",
			Formula: from + "bytes per second ÷ exchanges_per_s",
			in: func(w *Window) (float64, bool) {
				return perLink(w, func(i contract.Interface) (received, sent int64) { return i.ReceivedBytes, i.SentBytes })
			},
		},
		{
			Name: "link_packets_per_exchange", Unit: "1", Better: Lower, Doc: "packets on the link per exchange",
			Formula: from + "packets per second ÷ exchanges_per_s",
			in: func(w *Window) (float64, bool) {
				return perLink(w, func(i contract.Interface) (received, sent int64) { return i.ReceivedPackets, i.SentPackets })
			},
		},
	}
}

// perLink sums an interface's counters over the clients' seats, both directions;
// on loopback, where what is sent is received too, once.
func perLink(w *Window, of func(contract.Interface) (received, sent int64)) (float64, bool) {
	sum, ok := overSeats(w, w.per(meteredSeconds), func(name string, before, after contract.Interface) float64 {
		receivedBefore, sentBefore := of(before)
		received, sent := of(after)
		if name == loopback {
			return delta(sentBefore, sent)
		}
		return delta(sentBefore, sent) + delta(receivedBefore, received)
	})
	return perExchange(w, sum, ok && sum > 0)
}

// Link names the interfaces that carried the clients' traffic, "seat/eth0",
// sorted and without repeats: trials of the same name crossed the same link.
// False when a client's is not known, or is loopback, which is no link but
// CPU time.
func (w *Window) Link() (string, bool) {
	var names []string
	for _, g := range w.Generators() {
		span, ok := w.Span(g)
		if !ok {
			return "", false
		}
		name, ok := busiestInterface(span)
		if !ok || name == loopback {
			return "", false
		}
		names = append(names, g.Seat+"/"+name)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " "), len(names) > 0
}

// Arriving returns the payload bytes that arrived per second at the servers or
// at the clients, whatever the exchange is about; false when it is not known.
func (w *Window) Arriving(at contract.Role) (float64, bool) {
	if at != contract.Server {
		return resultRate(w, func(g *Worker) int64 { return g.Result.Counts.ReceivedBytes })
	}
	return atServers(w, Span.Seconds)
}

// loopback counts every packet as sent and as received.
const loopback = "lo"

// busiestInterface returns the interface that carried most bytes between the
// span's edges; false when none carried any. Of two that carried the same, the
// first by name, so that the same record gives the same figure.
func busiestInterface(s Span) (name string, ok bool) {
	from, to, _, ok := s.Metered()
	if !ok {
		return "", false
	}
	most := 0.0
	for candidate, after := range to.Interfaces {
		before, known := from.Interfaces[candidate]
		carried := delta(before.ReceivedBytes, after.ReceivedBytes) + delta(before.SentBytes, after.SentBytes)
		if known && (carried > most || carried == most && carried > 0 && candidate < name) {
			name, most = candidate, carried
		}
	}
	return name, most > 0
}
