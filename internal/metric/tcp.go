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
		tcpAtClose(Metric{
			Name: TCPRTT, Unit: "µs", Label: "TCP round trip", Heading: "round trip", Doc: "round-trip time by TCP",
			Formula: "smoothed round-trip time as the window closes, under load, mean over the connections",
		}, perConnection, func(t *contract.TCP) float64 { return float64(t.RTTNs) / nsPerUs * float64(t.Sockets) }),
		tcpAtClose(Metric{
			Name: "tcp_queueing_us", Unit: "µs", Label: "TCP queueing", Heading: "queueing", Doc: "round-trip time by TCP above the shortest",
			Formula: "smoothed round-trip time as the window closes − the shortest of any connection of that worker, mean over the connections",
		}, perConnection, func(t *contract.TCP) float64 { return float64(t.RTTNs-t.MinRTTNs) / nsPerUs * float64(t.Sockets) }),
		tcpAtClose(Metric{
			Name: TCPCongestionWindow, Unit: "B", Label: "TCP congestion window", Heading: "congestion window", Doc: "congestion window by TCP",
			Formula: "congestion window as the window closes, mean over the connections: segments × the largest segment of any connection",
		}, perConnection, func(t *contract.TCP) float64 {
			return float64(t.CongestionWindow) * float64(t.SegmentBytes) * float64(t.Sockets)
		}),
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
		tcpAtClose(Metric{
			Name: "tcp_delivery_bytes_per_s", Unit: "B/s", Label: "TCP delivery", Heading: "delivery", Doc: "delivery rate by TCP",
			Formula: "rate at which the latest flight was acknowledged, summed over connections, as the window closes; of short messages the rate of a burst, not of the load",
		}, overConnections, func(t *contract.TCP) float64 { return float64(t.DeliveryBytesPerS) }),
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

// How tcpAtClose puts several spans together.
type tcpTotal func(sum, connections float64) float64

func perConnection(sum, connections float64) float64 { return sum / connections }
func overConnections(sum, _ float64) float64         { return sum }

// tcpAtClose makes both ends' metric of what the connections are like at the
// closing edge.
func tcpAtClose(m Metric, total tcpTotal, of func(*contract.TCP) float64) []Metric {
	return bothEnds(m, func(_ *record.Window, spans []record.Span) (float64, bool) {
		g, ok := record.GrowthOf(spans)
		sum := 0.0
		for _, s := range spans {
			if _, to, known := s.TCP(); known {
				sum += of(to)
			}
		}
		return total(sum, g.Sockets), ok
	})
}
