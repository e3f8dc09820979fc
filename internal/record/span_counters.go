package record

import (
	"slices"
	"strings"

	"netdyno/internal/contract"
)

// Loopback is the interface that counts every packet as sent and as received.
const Loopback = "lo"

// BusiestInterface returns the interface that carried most bytes in the span;
// false when none carried any. Of two that carried the same, the first by name,
// so that the same record gives the same figure.
func (s Span) BusiestInterface() (name string, ok bool) {
	from, to, _, ok := s.Metered()
	if !ok {
		return "", false
	}
	most := 0.0
	for _, after := range to.Interfaces {
		before, known := from.Interfaces.Of(after.Name)
		carried := Growth(before.ReceivedBytes, after.ReceivedBytes) + Growth(before.SentBytes, after.SentBytes)
		if known && carried > most {
			name, most = after.Name, carried
		}
	}
	return name, most > 0
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
		name, ok := span.BusiestInterface()
		if !ok || name == Loopback {
			return "", false
		}
		names = append(names, g.Seat+"/"+name)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " "), len(names) > 0
}

// TCPGrowth is by how much the TCP counters of several workers' connections grew
// between their edges. Times are sums over the connections in seconds.
type TCPGrowth struct {
	Sockets          float64
	SocketsS         float64 // Δ time × connections
	BusyS            float64
	ReceiveWindowS   float64
	SendBufferS      float64
	AckedBytes       float64
	ReceivedBytes    float64
	SentSegments     float64
	ReceivedSegments float64 // 0 in records of before that was read
	Retransmits      float64
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
			{&g.ReceivedSegments, from.ReceivedSegments, to.ReceivedSegments, 1},
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

// TCP returns the TCP counters of the worker's connections at both edges, estimated where
// a sample of the connections was read; false when one is missing or they are not of as
// many connections.
func (s Span) TCP() (from, to *contract.TCP, ok bool) {
	if s.From.Meter == nil || s.To.Meter == nil || s.Worker.ChoosesPath() {
		return nil, nil, false
	}
	from, to = s.From.Meter.TCP, s.To.Meter.TCP
	ok = from != nil && to != nil && from.Sockets == to.Sockets && to.Sockets > 0 && from.Of == to.Of
	return from.Whole(), to.Whole(), ok
}

// Unread returns how many bytes stood in the receive queues of some workers' connections,
// summed over these: the mean of the readings at the window's edges and, in older records of
// trials with a timeline, of those between, which are of some connections and stand for all. False
// where an edge lacks the account.
func Unread(spans []Span) (bytes float64, ok bool) {
	for _, s := range spans {
		from, to, known := s.TCP()
		if !known {
			return 0, false
		}
		readings := []*contract.TCP{from, to}
		for _, m := range s.Worker.Metered {
			if m.TCP != nil && m.TCP.Sockets > 0 && m.AtNs > s.From.Meter.AtNs && m.AtNs < s.To.Meter.AtNs {
				readings = append(readings, m.TCP)
			}
		}
		sum := 0.0
		for _, r := range readings {
			sum += float64(r.ReceiveBufferedBytes) / float64(r.Sockets)
		}
		bytes += sum / float64(len(readings)) * float64(to.Sockets)
	}
	return bytes, len(spans) > 0
}

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

// Groups returns the two readings of the control group of who serves or drives: of a server
// that the worker stands for its own, also where its processes were not all metered. False
// where a reading lacks it, or they are of different groups.
func (s Span) Groups() (from, to *contract.Group, ok bool) {
	a, b, _, ok := s.Metered()
	if !ok || a.Group == nil || b.Group == nil || a.Group.Name != b.Group.Name {
		return nil, nil, false
	}
	switch ready := s.Worker.Ready; {
	case ready == nil:
	case !ready.Elsewhere && s.Worker.Elsewhere():
		return nil, nil, false
	case ready.Elsewhere:
		for _, m := range []*contract.Meter{a, b} {
			if m.Attached == nil || len(m.Attached.PIDs) == 0 {
				return nil, nil, false
			}
		}
	}
	return a.Group, b.Group, true
}

// Throttled returns the share of the periods inside the span in which the worker's control
// group had used up its quota of CPU time; false without a quota, or where it changed.
func (s Span) Throttled() (share float64, ok bool) {
	from, to, ok := s.Groups()
	if !ok || from.Quota == nil || to.Quota == nil {
		return 0, false
	}
	a, b := from.Quota, to.Quota
	periods := Growth(a.Periods, b.Periods)
	if a.AllowedNs != b.AllowedNs || a.PeriodNs != b.PeriodNs || periods <= 0 {
		return 0, false
	}
	return min(max(Growth(a.Throttled, b.Throttled)/periods, 0), 1), true
}

// HeldBack returns for how many seconds inside the span the worker's control group was held
// back as it had used up its quota, and how many seconds the span has. The kernel sums over
// CPUs, so that it was all held back for so long at the most. Both are 0 where nothing is known
// of a quota, or where it changed.
func (s Span) HeldBack() (seconds, length float64) {
	if _, ok := s.Throttled(); !ok {
		return 0, 0
	}
	from, to, _ := s.Groups()
	_, _, length, _ = s.Metered()
	return Growth(from.Quota.ThrottledNs, to.Quota.ThrottledNs) / 1e9, length
}
