package metric

import (
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// tcpMetrics are what the kernel counts of the connections, by end (specification
// §4.3). They explain other figures: but for retransmissions, neither direction
// is better.
func tcpMetrics() []Metric {
	return slices.Concat(
		tcpMean(Metric{
			Name: TCPRTT, Unit: "µs", Label: "TCP round trip", Heading: "round trip", Doc: "round-trip time by TCP",
			Formula: "smoothed round-trip time as the window closes, under load, mean over the connections",
		}, func(t *contract.TCP) float64 { return float64(t.RTTNs) / nsPerUs }),
		tcpMean(Metric{
			Name: "tcp_queueing_us", Unit: "µs", Label: "TCP queueing", Heading: "queueing", Doc: "round-trip time by TCP above the shortest",
			Formula: "smoothed round-trip time as the window closes − the shortest of any connection of that worker, mean over the connections",
		}, func(t *contract.TCP) float64 { return float64(t.RTTNs-t.MinRTTNs) / nsPerUs }),
		tcpMean(Metric{
			Name: TCPCongestionWindow, Unit: "B", Label: "TCP congestion window", Heading: "congestion window", Doc: "congestion window by TCP",
			Formula: "congestion window as the window closes, mean over the connections: segments × the largest segment of any connection",
		}, func(t *contract.TCP) float64 { return float64(t.CongestionWindow) * float64(t.SegmentBytes) }),
		tcpShare(Metric{
			Name: TCPRetransmitShare, Unit: "share", Better: Lower, Label: "TCP retransmits", Heading: "retransmitted", Doc: "share of segments retransmitted",
			Formula: "segments retransmitted ÷ segments sent with data",
		}, func(g record.TCPGrowth) (part, whole float64) { return g.Retransmits, g.SentSegments }),
		tcpShare(Metric{
			Name: TCPBusyShare, Unit: "share", Label: "TCP busy", Heading: "busy", Doc: "share of time with data to send",
			Formula: "time in which a connection had data unsent or unacknowledged ÷ (time × connections)",
		}, func(g record.TCPGrowth) (part, whole float64) { return g.BusyS, g.SocketsS }),
		tcpShare(Metric{
			Name: TCPReceiveWindow, Unit: "share", Label: "TCP limited by the peer's window", Heading: "limited by the peer's window",
			Doc:     "share of sending time held back by the other end's window",
			Formula: "time in which the other end's receive window held the sender back ÷ time with data to send",
		}, func(g record.TCPGrowth) (part, whole float64) { return g.ReceiveWindowS, g.BusyS }),
		tcpShare(Metric{
			Name: TCPSendBuffer, Unit: "share", Label: "TCP limited by its send buffer", Heading: "limited by its send buffer",
			Doc:     "share of sending time held back by its own send buffer",
			Formula: "time in which the sender's own send buffer held it back ÷ time with data to send",
		}, func(g record.TCPGrowth) (part, whole float64) { return g.SendBufferS, g.BusyS }),
		bothEnds(Metric{
			Name: "tcp_delivery_bytes_per_s", Unit: "B/s", Label: "TCP delivery", Heading: "delivery", Doc: "delivery rate by TCP",
			Formula: "rate at which the latest flight was acknowledged, summed over connections, as the window closes; of short messages the rate of a burst, not of the load",
		}, func(_ *record.Window, spans []record.Span) (float64, bool) {
			sum, _, ok := tcpAtClose(spans, func(t *contract.TCP) float64 { return float64(t.DeliveryBytesPerS) })
			return sum, ok
		}),
		bothEnds(Metric{
			Name: Unread, Unit: "B", Label: "TCP unread", Heading: "unread", Doc: "bytes in its sockets' receive queues",
			Formula: "bytes received and not read, over all connections: mean of the readings at the window's edges and, with a timeline, of those between",
		}, func(_ *record.Window, spans []record.Span) (float64, bool) { return record.Unread(spans) }),
	)
}

// tcpShare makes both ends' metric of a part of what the connections counted.
func tcpShare(m Metric, of func(record.TCPGrowth) (part, whole float64)) []Metric {
	return bothEnds(m, func(_ *record.Window, spans []record.Span) (float64, bool) {
		g, ok := record.GrowthOf(spans)
		if !ok {
			return 0, false
		}
		part, whole := of(g)
		return part / whole, whole > 0
	})
}

// tcpMean makes both ends' metric of the mean connection at the closing edge.
func tcpMean(m Metric, of func(*contract.TCP) float64) []Metric {
	return bothEnds(m, func(_ *record.Window, spans []record.Span) (float64, bool) {
		sum, connections, ok := tcpAtClose(spans, func(t *contract.TCP) float64 { return of(t) * float64(t.Sockets) })
		return sum / connections, ok
	})
}

// tcpAtClose sums what the connections are like at the closing edge.
func tcpAtClose(spans []record.Span, of func(*contract.TCP) float64) (sum, connections float64, ok bool) {
	g, ok := record.GrowthOf(spans)
	for _, s := range spans {
		if _, to, known := s.TCP(); known {
			sum += of(to)
		}
	}
	return sum, g.Sockets, ok
}

// connectionMetrics say how evenly the clients' connections share what they
// move: streams that are many and unequal hide in a sum.
func connectionMetrics() []Metric {
	one := func(name, which string, of func([]float64) float64) Metric {
		return Metric{
			Name: name, Unit: "B/s", Better: Higher, Label: which + " connection", Doc: "rate of the " + which + " connection",
			Formula: "TCP payload per second, in the direction of the goodput, of the clients' " + which + " connection, as the kernel counts it; at most 64 connections at each client, all under load",
			in: func(w *record.Window) (float64, bool) {
				rates, ok := connectionRates(w)
				if !ok {
					return 0, false
				}
				return of(rates), true
			},
		}
	}
	return []Metric{
		one(SlowestConnection, "slowest", slices.Min[[]float64]),
		one(FastestConnection, "fastest", slices.Max[[]float64]),
		{
			Name: EventBytes, Unit: "B", Label: "bytes per event", Doc: "bytes that an event brought the client's program",
			Formula: "bytes received ÷ messages, as the clients' programs count them over their run (muduo, evpp): what there was to read",
			in:      bytesPerEvent,
		},
	}
}

// bytesPerEvent divides the bytes that the clients' programs say they received by the
// number of messages in which the bytes came. It is false where a program says nothing.
func bytesPerEvent(w *record.Window) (float64, bool) {
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
