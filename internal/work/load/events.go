package load

import (
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// events are when events of replies came, of all shards in a window; nil before the first.
type events struct {
	first, gaps, waiting atomic.Pointer[hist.Recorder]
}

// stages are how long stages of exchanges took, of all shards in a window; nil before the first.
type stages struct {
	connect, handshake, firstByte, waiting atomic.Pointer[hist.Recorder]
	resumed                                atomic.Int64
}

// Connected says how long it took the transport to make a connection. Any goroutine may call
// it; before the start it has no effect.
func (l *Load) Connected(ns int64) {
	if t := l.shards[0].now.Load(); t.times != nil {
		recordIn(&t.times.stages.connect, ns)
	}
}

// Secured says, as Connected does, how long the TLS handshake of a new connection took, and
// whether it resumed a session.
func (l *Load) Secured(ns int64, resumed bool) {
	t := l.shards[0].now.Load()
	if t.times == nil {
		return
	}
	recordIn(&t.times.stages.handshake, ns)
	if resumed {
		t.times.stages.resumed.Add(1)
	}
}

// FirstByte says that something of the reply in flight came, which is told where setup asks
// for stages. Only the first call in an exchange has an effect.
func (s *Slot) FirstByte(at int64) {
	if !s.load.stages || s.replied {
		return
	}
	s.replied = true
	if t := s.shard.now.Load(); t.times != nil {
		recordIn(&t.times.stages.firstByte, at-s.pending.Load())
	}
}

// Event says that an event of the reply in flight has come whole.
func (s *Slot) Event(at int64) {
	s.FirstByte(at)
	if !s.load.events {
		return
	}
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

// TellsEvents reports whether Event has an effect.
func (l *Load) TellsEvents() bool { return l.events }

// waited counts an exchange that ends at this age, with a first byte or an event or without.
func (l *Load) waited(t *counters, ns int64, replied, event bool) {
	if t.times == nil {
		return
	}
	if l.stages && !replied {
		recordIn(&t.times.stages.waiting, ns)
	}
	if l.events && !event {
		recordIn(&t.times.events.waiting, ns)
	}
}

// encoded is where the text of a histogram goes.
type encoded struct {
	from *atomic.Pointer[hist.Recorder]
	to   *string
}

func encodeAll(all ...encoded) error {
	for _, each := range all {
		r := each.from.Load()
		if r == nil {
			continue
		}
		text, err := r.Snapshot().Encode()
		if err != nil {
			return err
		}
		*each.to = text
	}
	return nil
}

// enterParts encodes how long stages of exchanges took and when events came, as far as
// somebody asked.
func (l *Load) enterParts(of phase, r *contract.Result) error {
	at := of[0].times // shared by all
	if l.stages {
		s := &contract.Stages{Resumed: at.stages.resumed.Load()}
		r.Stages = s
		err := encodeAll(
			encoded{&at.stages.connect, &s.Connect}, encoded{&at.stages.handshake, &s.Handshake},
			encoded{&at.stages.firstByte, &s.FirstByte}, encoded{&at.stages.waiting, &s.Waiting})
		if err != nil {
			return err
		}
	}
	if !l.events {
		return nil
	}
	e := &contract.Events{}
	r.Events = e
	for _, c := range of {
		e.Count += c.events.Load()
	}
	return encodeAll(encoded{&at.events.first, &e.First}, encoded{&at.events.gaps, &e.Gaps}, encoded{&at.events.waiting, &e.Waiting})
}
