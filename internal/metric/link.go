package metric

import (
	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// linkMetrics are what crossed the link for one exchange: payload, headers,
// acknowledgements and retransmissions, both directions.
func linkMetrics() []Metric {
	const from = " sent and received by the busiest interface of each client's host ÷ exchanges; other traffic counts too; on loopback, which sees everything twice, counted once"
	return []Metric{
		{
			Name: "link_bytes_per_exchange", Unit: "B", Suffix: "/exchange", Better: Lower, Label: "bytes on the link", Doc: "bytes on the link per exchange",
			Formula: "bytes" + from,
			in: func(w *record.Window) (float64, bool) {
				return perLink(w, func(i contract.Interface) (received, sent int64) { return i.ReceivedBytes, i.SentBytes })
			},
		},
		{
			Name: "link_packets_per_exchange", Unit: "1", Suffix: "/exchange", Better: Lower, Label: "packets on the link", Doc: "packets on the link per exchange",
			Formula: "packets" + from,
			in: func(w *record.Window) (float64, bool) {
				return perLink(w, func(i contract.Interface) (received, sent int64) { return i.ReceivedPackets, i.SentPackets })
			},
		},
	}
}

// perLink sums an interface's counters over the clients' hosts, both directions;
// on loopback, where what is sent is received too, once.
func perLink(w *record.Window, of func(contract.Interface) (received, sent int64)) (float64, bool) {
	sum, ok := overHosts(w, costLength(w, meteredSeconds), func(name string, before, after contract.Interface) float64 {
		receivedBefore, sentBefore := of(before)
		received, sent := of(after)
		if name == record.Loopback {
			return record.Growth(sentBefore, sent)
		}
		return record.Growth(sentBefore, sent) + record.Growth(receivedBefore, received)
	})
	return perExchange(w, sum, ok && sum > 0)
}
