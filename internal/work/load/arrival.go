package load

import (
	"math"
	"slices"
	"sync/atomic"
	"time"

	"netdyno/internal/contract"
)

// The stretch of the window whose sends are kept begins at its opening and ends at
// the first of these bounds. So a client keeps at most 1 MiB of instants, however
// long the window is.
const (
	stretchMost   = 30 * time.Second
	stretchSends  = 1 << 17 // expected at the declared rate
	sendsHeadroom = 1.25    // over the expected: a schedule's scatter, a backlog from the warm-up
	sendsLeast    = 64      // room in a shard that expects next to nothing
)

// sends keeps when the exchanges of one shard were actually sent, in the order in
// which they completed. Any goroutine may call record; nothing there locks or
// allocates.
type sends struct {
	from, until int64 // the stretch; set before the shard enters the window
	next        atomic.Int64
	refused     atomic.Int64 // the earliest that found no room
	at          []atomic.Int64
}

// newSends makes room for the sends that a share of rate (exchanges per second)
// is expected to make in the stretch.
func newSends(rate, share float64) *sends {
	expected := stretchOf(rate).Seconds() * rate * share
	s := &sends{from: math.MaxInt64, at: make([]atomic.Int64, int(expected*sendsHeadroom)+sendsLeast)}
	s.refused.Store(math.MaxInt64)
	return s
}

// stretchOf returns how long sends are kept at a rate.
func stretchOf(rate float64) time.Duration {
	return time.Duration(min(stretchSends/rate*1e9, float64(stretchMost)))
}

// record notes a completed exchange that was sent in the stretch.
func (s *sends) record(sent int64) {
	if sent < s.from || sent >= s.until {
		return
	}
	if i := s.next.Add(1) - 1; i < int64(len(s.at)) {
		s.at[i].Store(sent)
		return
	}
	for earliest := s.refused.Load(); sent < earliest; earliest = s.refused.Load() {
		if s.refused.CompareAndSwap(earliest, sent) {
			return
		}
	}
}

// arrivals sums up the gaps between the client's sends from the window's opening to
// its end or the stretch's. It stops at the earliest send for which a shard had no
// room, because only what was sent before was kept by all shards. It is nil for a
// closed loop.
func (l *Load) arrivals() *contract.Arrivals {
	if l.turns != nil {
		return nil
	}
	var all []int64
	until := l.closeNs.Load()
	for _, t := range l.window {
		s := t.times.sends
		if s == nil || s.from == math.MaxInt64 {
			return nil
		}
		until = min(until, s.until, s.refused.Load())
		for i := range min(s.next.Load(), int64(len(s.at))) {
			all = append(all, s.at[i].Load())
		}
	}
	return gapsOf(all, l.fromNs, until)
}

// gapsOf sums up the gaps between those of the instants (ns, in any order, which
// it sorts) that lie in [from, until); nil when there is none.
func gapsOf(sent []int64, from, until int64) *contract.Arrivals {
	slices.Sort(sent)
	first, _ := slices.BinarySearch(sent, from)
	end, _ := slices.BinarySearch(sent, until)
	if end-first < 2 {
		return nil
	}
	sent = sent[first:end]
	a := &contract.Arrivals{
		Gaps: int64(len(sent) - 1), SumNs: sent[len(sent)-1] - sent[0], StretchNs: until - from,
	}
	for i := range sent[1:] {
		gap := float64(sent[i+1] - sent[i])
		a.SumSquaresNs2 += gap * gap
	}
	return a
}
