package load

import (
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// events are when parts of replies came, of all shards in a window; nil before the first.
type events struct {
	firstByte, first, gaps, waiting atomic.Pointer[hist.Recorder]
}

// FirstByte says that something of the reply in flight came, which is told where setup asks
// for events. Only the first call in an exchange has an effect.
func (s *Slot) FirstByte(at int64) {
	if !s.load.events || s.replied {
		return
	}
	s.replied = true
	if t := s.shard.now.Load(); t.times != nil {
		recordIn(&t.times.events.firstByte, at-s.pending.Load())
	}
}

// Event says that an event of the reply in flight has come whole.
func (s *Slot) Event(at int64) {
	if !s.load.events {
		return
	}
	s.FirstByte(at)
	before := s.eventNs
	s.eventNs = at
	t := s.shard.now.Load()
	t.events.Add(1)
	switch {
	case t.times == nil:
	case before == 0:
		recordIn(&t.times.events.first, at-s.pending.Load())
	default:
		recordIn(&t.times.events.gaps, at-before)
	}
}

// TellsEvents reports whether FirstByte and Event have an effect.
func (l *Load) TellsEvents() bool { return l.events }

// waited counts an exchange that ends without any event, at its age.
func (l *Load) waited(t *counters, ns int64) {
	if l.events && t.times != nil {
		recordIn(&t.times.events.waiting, ns)
	}
}

// eventTimes encodes when parts of replies came; nil where nobody asked.
func (l *Load) eventTimes(of phase) (*contract.Events, error) {
	if !l.events {
		return nil, nil
	}
	e := &contract.Events{}
	for _, c := range of {
		e.Count += c.events.Load()
	}
	at := &of[0].times.events // shared by all
	for _, each := range []struct {
		from *atomic.Pointer[hist.Recorder]
		to   *string
	}{{&at.firstByte, &e.FirstByte}, {&at.first, &e.First}, {&at.gaps, &e.Gaps}, {&at.waiting, &e.Waiting}} {
		r := each.from.Load()
		if r == nil {
			continue
		}
		text, err := r.Snapshot().Encode()
		if err != nil {
			return nil, err
		}
		*each.to = text
	}
	return e, nil
}
