package record

import "netdyno/internal/contract"

// tcpMetrics are the kernel's account of the connections, by end (METHOD §4.3).
// They explain figures and are none by themselves: but for retransmissions,
// neither direction is better.
func tcpMetrics() []Metric {
	grown := func(m Metric, of func(TCPGrowth) (part, whole float64)) []Metric {
		return bothEnds(m, func(_ *Window, spans []Span) (float64, bool) {
			g, ok := GrowthOf(spans)
			if !ok {
				return 0, false
			}
			part, whole := of(g)
			return part / whole, whole > 0
		})
	}
	now := func(m Metric, of func(*contract.TCP) float64, perSocket bool) []Metric {
		return bothEnds(m, func(_ *Window, spans []Span) (float64, bool) {
			g, ok := GrowthOf(spans)
			sum := 0.0
			for _, s := range spans {
				if _, to, known := s.TCP(); known {
					sum += of(to)
				}
			}
			if perSocket {
				sum /= g.Sockets
			}
			return sum, ok
		})
	}
	all := now(Metric{
		Name: "tcp_rtt_us", Unit: "µs", Doc: "round-trip time by TCP",
		Formula: "mean over the connections of the smoothed round-trip time at the closing edge, under load",
	}, func(t *contract.TCP) float64 { return float64(t.RTTNs) / nsPerUs * float64(t.Sockets) }, true)
	all = append(all, now(Metric{
		Name: "tcp_congestion_window_bytes", Unit: "B", Doc: "congestion window by TCP",
		Formula: "mean over the connections of the congestion window at the closing edge, segments × the largest segment of any",
	}, func(t *contract.TCP) float64 {
		return float64(t.CongestionWindow) * float64(t.SegmentBytes) * float64(t.Sockets)
	}, true)...)
	all = append(all, grown(Metric{
		Name: "tcp_retransmit_share", Unit: "share", Better: Lower, Doc: "share of segments retransmitted",
		Formula: "segments retransmitted ÷ segments sent with data",
	}, func(g TCPGrowth) (part, whole float64) { return g.Retransmits, g.SentSegments })...)
	all = append(all, grown(Metric{
		Name: "tcp_busy_share", Unit: "share", Doc: "share of time with data to send",
		Formula: "time in which a connection had data unsent or unacknowledged ÷ (Δ time × connections)",
	}, func(g TCPGrowth) (part, whole float64) { return g.BusyS, g.SocketsS })...)
	all = append(all, grown(Metric{
		Name: "tcp_receive_window_share", Unit: "share", Doc: "share of sending time held back by the other end's window",
		Formula: "time held back by the peer's receive window ÷ time with data to send",
	}, func(g TCPGrowth) (part, whole float64) { return g.ReceiveWindowS, g.BusyS })...)
	all = append(all, grown(Metric{
		Name: "tcp_send_buffer_share", Unit: "share", Doc: "share of sending time held back by its own send buffer",
		Formula: "time held back by the send buffer ÷ time with data to send",
	}, func(g TCPGrowth) (part, whole float64) { return g.SendBufferS, g.BusyS })...)
	return append(all, now(Metric{
		Name: "tcp_delivery_bytes_per_s", Unit: "B/s", Doc: "delivery rate by TCP",
		Formula: "Σ connections: rate at which the latest flight was acknowledged, at the closing edge; of short messages the rate of a burst, not of the load",
	}, func(t *contract.TCP) float64 { return float64(t.DeliveryBytesPerS) }, false)...)
}

// TCPGrowth is by how much the account of several workers' connections grew
// between their edges. Times are sums over the connections in seconds.
type TCPGrowth struct {
	Sockets        float64
	SocketsS       float64 // Δ time × connections
	BusyS          float64
	ReceiveWindowS float64
	SendBufferS    float64
	AckedBytes     float64
	ReceivedBytes  float64
	SentSegments   float64
	Retransmits    float64
}

// GrowthOf sums the growth over spans; false when there is none, one lacks the
// account at an edge or has another number of connections there, or a counter
// ran backwards: then other connections were counted.
func GrowthOf(spans []Span) (TCPGrowth, bool) {
	var g TCPGrowth
	for _, s := range spans {
		from, to, ok := s.TCP()
		_, _, length, timed := s.Metered()
		if !ok || !timed {
			return TCPGrowth{}, false
		}
		g.Sockets += float64(to.Sockets)
		g.SocketsS += length * float64(to.Sockets)
		for _, c := range []struct {
			sum      *float64
			from, to int64
			unit     float64
		}{
			{&g.BusyS, from.BusyNs, to.BusyNs, nsPerS},
			{&g.ReceiveWindowS, from.ReceiveWindowNs, to.ReceiveWindowNs, nsPerS},
			{&g.SendBufferS, from.SendBufferNs, to.SendBufferNs, nsPerS},
			{&g.AckedBytes, from.AckedBytes, to.AckedBytes, 1},
			{&g.ReceivedBytes, from.ReceivedBytes, to.ReceivedBytes, 1},
			{&g.SentSegments, from.SentSegments, to.SentSegments, 1},
			{&g.Retransmits, from.Retransmits, to.Retransmits, 1},
		} {
			if c.to < c.from {
				return TCPGrowth{}, false
			}
			*c.sum += delta(c.from, c.to) / c.unit
		}
	}
	return g, len(spans) > 0
}

// TCP returns the account of the worker's connections at both edges; false
// when one is missing or they are not of as many connections.
func (s Span) TCP() (from, to *contract.TCP, ok bool) {
	if s.From.Meter == nil || s.To.Meter == nil {
		return nil, nil, false
	}
	from, to = s.From.Meter.TCP, s.To.Meter.TCP
	return from, to, from != nil && to != nil && from.Sockets == to.Sockets && to.Sockets > 0
}
