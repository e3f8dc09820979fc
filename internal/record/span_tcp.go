package record

import "netdyno/internal/contract"

// TCPGrowth is by how much the TCP counters of several workers' connections grew
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
			*c.sum += Growth(c.from, c.to) / c.unit
		}
	}
	return g, len(spans) > 0
}

// TCP returns the TCP counters of the worker's connections at both edges; false
// when one is missing or they are not of as many connections.
func (s Span) TCP() (from, to *contract.TCP, ok bool) {
	if s.From.Meter == nil || s.To.Meter == nil || s.Worker.ChoosesPath() {
		return nil, nil, false
	}
	from, to = s.From.Meter.TCP, s.To.Meter.TCP
	return from, to, from != nil && to != nil && from.Sockets == to.Sockets && to.Sockets > 0
}
