package record

import "netdyno/internal/contract"

// UDPGrowth is by how much the kernel's counters of UDP grew between the edges of
// several workers: those of the network namespaces, and the drops of the workers'
// own sockets.
type UDPGrowth struct {
	In, Out float64 // datagrams delivered, and sends
	NotIn   float64 // datagrams that came and were not delivered, to no port ones included
	NotOut  float64 // sends that failed
	Sockets int     // of the workers; 0 where they were not looked at
	Drops   float64 // at them
	Seconds float64 // the longest span's length
}

// UDPGrowthOf sums the growth over spans; false when there is none, one lacks the
// account at an edge, or a counter ran backwards. Sockets is 0 where those of an edge
// are not those of the other.
func UDPGrowthOf(spans []Span) (UDPGrowth, bool) {
	var g UDPGrowth
	same := true
	for _, s := range spans {
		from, to, length, ok := s.Metered()
		if !ok || from.UDP == nil || to.UDP == nil {
			return UDPGrowth{}, false
		}
		a, b := from.UDP, to.UDP
		for _, c := range []struct {
			sum      *float64
			from, to int64
		}{
			{&g.In, a.In, b.In},
			{&g.Out, a.Out, b.Out},
			{&g.NotIn, notDelivered(a), notDelivered(b)},
			{&g.NotOut, a.SendBufferErrors, b.SendBufferErrors},
		} {
			if c.to < c.from {
				return UDPGrowth{}, false
			}
			*c.sum += Growth(c.from, c.to)
		}
		same = same && a.Sockets == b.Sockets && b.Sockets > 0 && b.Drops >= a.Drops
		g.Sockets += b.Sockets
		g.Drops += Growth(a.Drops, b.Drops)
		g.Seconds = max(g.Seconds, length)
	}
	if !same {
		g.Sockets, g.Drops = 0, 0
	}
	return g, len(spans) > 0
}

func notDelivered(u *contract.UDP) int64 { return u.InErrors + u.NoPorts }
