package load

import (
	"math"
	"sync/atomic"

	"netdyno/internal/contract"
)

// idle marks a slot without an exchange in flight.
const idle = math.MaxInt64

// Slot is a place for one exchange in flight.
type Slot struct {
	load     *Load
	shard    *shard
	pending  atomic.Int64 // due of the exchange in flight; idle otherwise
	left     int64        // exchanges still to begin
	canceled int64        // due of the exchange that was taken back last
	open     bool
	started  bool
	held     bool         // the request of the exchange in flight never went out
	varies   bool         // what exchanges carry is drawn, or recorded
	replay   *Replay      // that dues come from, and what is due unless times is set; else nil
	times    bool         // of replay, dues alone
	number   uint64       // of the exchange to begin next, where they are, or where it is numbered
	numbered bool         // what exchanges carry is filled in by the transport
	draw     Draw         // of the exchange begun last
	waits    *waits       // of its connection; nil where exchanges cannot wait for each other
	stripe   int          // where its times are kept by size
	path     int          // of those that exchanges are told apart by
	bin      int          // of the exchange begun last, by size
	flying   atomic.Int32 // … for the other slots of the connection; 0 for a small one
	thinkNs  int64
	replied  bool  // something of the reply in flight came
	eventNs  int64 // when its last event came; 0 before the first
	free     int64 // when its last exchange ended; before the first, an offset from the load's start
	schedule schedule
}

// Next returns when the slot's next exchange is due on the clock of Now; that may be
// in the past. It returns false when no exchange is left and the slot must be let
// go. Call it only when no exchange is in flight.
func (s *Slot) Next(now int64) (due int64, more bool) {
	closing := s.load.closeNs.Load()
	if !s.started {
		s.started, s.free = true, s.free+s.load.startNs.Load()
	}
	switch {
	case s.left == 0:
		s.pending.Store(idle)
		return 0, false
	case s.replay != nil:
		d := s.replay.take()
		due, s.number = s.load.startNs.Load()+d.atNs, d.Number
		if !s.times {
			s.draw = d.Draw
		}
	case s.load.dues != nil:
		due = s.load.startNs.Load() + s.load.dues.take()
	case s.open:
		due = s.load.startNs.Load() + s.schedule.peek()
	case s.thinkNs > 0:
		due = s.load.inTurn(s.free + s.thinkNs)
	default:
		due = s.load.inTurn(now)
	}
	// An open loop still sends what was due before the end, because a stall at the
	// end of the window must not vanish. A closed loop has nothing left to send.
	if due > closing || (!s.open && closing != math.MaxInt64) {
		if s.replay != nil {
			s.canceled = due
		}
		s.pending.Store(idle)
		return 0, false
	}
	if s.open && s.load.dues == nil {
		s.schedule.advance()
	}
	if s.varies {
		if s.replay == nil || s.times {
			s.load.draws.draw(s.number, &s.draw)
			s.number += uint64(len(s.load.slots))
		}
		s.beginSize()
	} else if s.numbered {
		s.draw.Number = s.number
		s.number += uint64(len(s.load.slots))
	}
	s.left--
	s.replied, s.eventNs = false, 0
	s.pending.Store(due)
	return due, true
}

// Draw returns what the exchange in flight carries, from Next on until it ends.
func (s *Slot) Draw() Draw { return s.draw }

// Carries says how many bytes the exchange in flight sends, of a load that is numbered.
func (s *Slot) Carries(bytes int64) { s.draw.Up = bytes }

// Done reports the exchange in flight as complete: when it was actually sent,
// when it completed, and the payload bytes that came back.
func (s *Slot) Done(sent, now, received int64) {
	due, free := s.pending.Load(), s.free
	s.free = now
	s.pending.Store(idle)
	t := s.shard.now.Load()
	t.exchanges.Add(1)
	t.received.Add(received)
	if s.varies {
		s.countDrawn(t, sent, now, due, received)
	} else if s.numbered {
		t.sent.Add(s.draw.Up)
	}
	if t.apart != nil {
		s.countApart(t, sent, now, due, received)
	}
	if t.times == nil {
		return
	}
	t.parts.addExchange(free, sent, now)
	if !s.varies {
		t.times.service.Record(now - sent)
		if t.times.response != nil {
			t.times.response.Record(now - due)
		}
		if received != s.load.exchange.DownBytes {
			t.times.differs(received)
		}
	}
	if t.times.lag != nil {
		t.times.lag.Record(sent - due)
	}
	if t.times.sends != nil {
		t.times.sends.record(sent)
	}
}

// countDrawn adds to a completed exchange what of it is drawn: bytes, class, times by size.
func (s *Slot) countDrawn(t *counters, sent, now, due, received int64) {
	draws := s.load.draws
	s.think()
	if draws.upVaries() {
		t.sent.Add(s.draw.Up)
	}
	if t.times != nil {
		s.countSize(t.times.sizes, sent, now, due, received)
		if draws.downVaries() || received != s.load.exchange.DownBytes {
			t.times.differs(received)
		}
	}
	s.endSize(span{sent, now})
}

// Fail reports the exchange in flight as failed because of err; it is counted by
// KindOf and ReasonOf that, and leaves no time in any histogram but, where it timed out,
// its age in that of the late ones.
func (s *Slot) Fail(err error) {
	due, now := s.pending.Swap(idle), Now()
	s.endSize(span{})
	s.free = now
	s.think()
	t, kind := s.shard.now.Load(), KindOf(err)
	if unsent(err) {
		t.unsent.Add(1)
	}
	if t.apart != nil {
		s.failApart(t, due, kind == contract.Timeout)
	}
	if t.times != nil {
		t.times.reasons.addReason(kind, ReasonOf(err))
		if kind == contract.Timeout {
			recordIn(&t.times.late, s.age(now-due))
			s.load.waited(t, s.age(now-due), s.replied, s.eventNs != 0)
		}
	}
	for i, k := range kinds {
		if k == kind {
			t.errors[i].Add(1)
			return
		}
	}
	t.errors[len(kinds)-1].Add(1) // a kind outside the contract is a bug of the transport's
}

// age is how long the exchange in flight was waited for, which timed out and was due so long
// ago: in a closed loop until its deadline and no longer, however late that was noticed.
func (s *Slot) age(ns int64) int64 {
	limit := s.load.plan.DeadlineNs
	if of := s.load.plan.Classes; len(of) > 0 && of[s.draw.Class].DeadlineNs > 0 {
		limit = of[s.draw.Class].DeadlineNs
	}
	if limit > 0 && !s.open {
		return min(ns, limit)
	}
	return ns
}

// think sets how long the slot waits after an exchange of the class that has ended.
func (s *Slot) think() {
	if thinks := s.load.thinks; thinks != nil {
		s.thinkNs = thinks[s.draw.Class]
	}
}

// Break says that the exchange in flight was broken off by this end, which err came of:
// it stays unfinished.
func (s *Slot) Break(err error) { s.held = unsent(err) }

// Cancel takes back an exchange that Next promised and that will not be sent.
func (s *Slot) Cancel() {
	s.canceled = s.pending.Swap(idle)
	s.endSize(span{})
}
