package load

import (
	"math"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// span is a stretch of time on the clock of Now, in ns.
type span struct{ from, to int64 }

// share returns the share of [begin, end] that lies in the span, 0 to 1. What begins
// and ends at one instant lies in it or does not.
func (s span) share(begin, end int64) float64 {
	if end <= begin {
		if end >= s.from && end <= s.to {
			return 1
		}
		return 0
	}
	return max(0, float64(min(end, s.to)-max(begin, s.from))/float64(end-begin))
}

// whole is an exchange in the sums of parts, which are integers so that they can be
// added atomically: a load of the most slots cannot exceed them.
const whole = 1_000_000_000

// parts corrects one shard's whole exchanges of a phase by those that span an edge
// of the window. Any goroutine may call add; nothing there locks or allocates.
type parts struct {
	inside  span  // the window as far as it is known; set before the shard enters the phase
	counted int64 // what the phase counts an exchange as: whole, or 0 after the window

	exchanges, cycles atomic.Int64 // sums of the parts inside less what was counted
	idleNs            atomic.Int64 // from the end of a slot's exchange to its next send
}

// addExchange notes an exchange: when its slot became free for it, when it was sent and
// when it completed.
func (p *parts) addExchange(free, sent, now int64) {
	p.idleNs.Add(sent - free)
	if p.counted == whole && free >= p.inside.from {
		return // the window's end is not known yet, and what completes then is inside
	}
	p.exchanges.Add(int64(math.Round(whole*p.inside.share(sent, now))) - p.counted)
	p.cycles.Add(int64(math.Round(whole*p.inside.share(free, now))) - p.counted)
}

// insideOf returns how much work fell inside the window, with exchanges that span an
// edge counted by the share of their time in it. completed is what the window's phase
// counted; times are service times, in an open loop response times.
func (l *Load) insideOf(completed int64, times *hist.Histogram) *contract.Inside {
	if !l.open || l.turns != nil {
		return nil
	}
	window := span{l.fromNs, l.closeNs.Load()}
	in := contract.Inside{Exchanges: float64(completed), Cycles: float64(completed) + l.waiting(window, times)}
	for _, p := range []phase{l.window, l.drain} {
		for _, c := range p {
			in.Exchanges += float64(c.parts.exchanges.Load()) / whole
			in.Cycles += float64(c.parts.cycles.Load()) / whole
			in.IdleNs += c.parts.idleNs.Load()
		}
	}
	if l.plan.Rate > 0 {
		in.IdleNs = 0 // an open loop waits for its schedule
		in.Due = l.fellDue(window)
	}
	return &in
}

// waiting sums the parts inside the window of the cycles of slots that waited, when it
// closed, for a due time to come. Each such cycle would have ended once the exchange
// due next had taken the mean time.
func (l *Load) waiting(window span, times *hist.Histogram) float64 {
	sum, takes, start := 0.0, int64(times.MeanNs()), l.startNs.Load()
	if l.plan.Rate == 0 && l.plan.ThinkNs == 0 || times.Count() == 0 {
		return 0
	}
	for i := range l.slots {
		s := &l.slots[i]
		if due := s.dueAfter(window.to, start); due != idle {
			free := s.free
			if !s.started {
				free += start
			}
			sum += window.share(free, due+takes)
		}
	}
	return sum
}

// dueAfter returns when the exchange was due for which a slot waited at the closing;
// idle where it did not wait, but was late, had one in flight, or none left.
func (s *Slot) dueAfter(closing, start int64) int64 {
	due := s.pending.Load()
	switch {
	case due != idle: // promised, and perhaps in flight
	case s.canceled > closing:
		due = s.canceled
	case s.left == 0, s.replay != nil:
		return idle
	case s.open:
		due = start + s.schedule.peek()
	case s.started:
		due = s.free + s.thinkNs
	default:
		due = start + s.free + s.thinkNs
	}
	if due <= closing {
		return idle
	}
	return due
}

// replayMost bounds how many due times are drawn again to count those of a window.
// Where more are expected, a random schedule departs from its rate by 0.1 % at most.
const replayMost = 1 << 20

// fellDue returns how many exchanges the schedules had due in the window, with a gap
// between due times that spans an edge counted by its share inside.
func (l *Load) fellDue(window span) float64 {
	start := l.startNs.Load()
	expected := l.plan.Rate * float64(window.to-window.from) / 1e9
	if l.warp != nil {
		expected = l.warp.Place(float64(window.to-start)) - l.warp.Place(float64(window.from-start))
	}
	if l.plan.Arrival == contract.Constant && l.warp == nil || l.plan.Rate*float64(window.to-start)/1e9 > replayMost {
		return expected
	}
	if l.replay != nil {
		return l.replay.dueIn(span{window.from - start, window.to - start})
	}
	due := 0.0
	for i := range l.slots {
		schedule := l.scheduleOf(i)
		for last := start; last < window.to; {
			next := start + schedule.peek()
			schedule.advance()
			due += window.share(last, next)
			last = next
		}
	}
	return due
}
