package gonet

import (
	"math"
	"sync/atomic"
	"time"

	"netdyno/internal/work/load"
)

// pipeline keeps exchanges in flight on one connection while others come back:
// a writer sends in order of due, a reader completes in the order sent.
type pipeline struct {
	client *client
	number int
	link   *link
	free   chan *load.Slot // done, to be asked for their next exchange; closed by the reader
	sent   chan flight     // in the order written; closed by the writer
	begun  atomic.Int64    // exchanges whose first byte may be on the wire
	left   int             // slots not yet let go; the writer's
	agenda load.Agenda[*load.Slot]
}

type flight struct {
	slot *load.Slot
	sent int64
}

func newPipeline(c *client, i int, slots []load.Slot) *pipeline {
	p := &pipeline{
		client: c, number: i, link: c.links[i], left: len(slots),
		free: make(chan *load.Slot, len(slots)), sent: make(chan flight, len(slots)),
	}
	for i := range slots {
		p.free <- &slots[i]
	}
	return p
}

// run returns when every slot is let go or the connection is lost.
func (p *pipeline) run() {
	written := make(chan struct{})
	go func() {
		defer close(written)
		p.write()
	}()
	p.read()
	<-written
}

// write sends what falls due until every slot is let go or the connection breaks.
func (p *pipeline) write() {
	defer close(p.sent)
	ended := p.client.load.Ended()
	timer := time.NewTimer(math.MaxInt64)
	defer timer.Stop()
	for p.left > 0 {
		if p.agenda.Len() > 0 {
			due, slot := p.agenda.Peek()
			wait := due - load.Now()
			if wait <= 0 {
				p.agenda.Pop()
				if !p.send(slot) {
					return // the reader sees the same end and counts it
				}
				p.askFree()
				continue
			}
			timer.Reset(time.Duration(wait))
			p.client.load.WakeAt(due)
		}
		// What is freed meanwhile may be due before what is waited for.
		select {
		case slot, ok := <-p.free:
			if !ok {
				return
			}
			p.ask(slot)
		case <-timer.C:
		case <-ended:
			ended = nil
			p.cancel(load.Now())
		}
	}
}

// askFree asks those slots for their next exchange that are free by now.
func (p *pipeline) askFree() {
	for {
		select {
		case slot, ok := <-p.free:
			if !ok {
				return // the next wait hears of it, too
			}
			p.ask(slot)
		default:
			return
		}
	}
}

func (p *pipeline) ask(slot *load.Slot) {
	due, more := slot.Next(load.Now())
	if !more {
		p.left--
		return
	}
	p.agenda.Push(due, slot)
}

// cancel lets go of what is due after now, when the load has ended; what fell
// due before is still sent.
func (p *pipeline) cancel(now int64) {
	var kept []*load.Slot
	for p.agenda.Len() > 0 {
		due, slot := p.agenda.Peek()
		p.agenda.Pop()
		if due > now {
			slot.Cancel()
			p.left--
		} else {
			kept = append(kept, slot)
		}
	}
	for _, slot := range kept {
		p.agenda.Push(now, slot)
	}
}

func (p *pipeline) send(slot *load.Slot) bool {
	p.begun.Add(1)
	p.sent <- flight{slot, load.Now()}
	return p.link.sendAll(&p.client.work.Up) == nil
}

// read completes exchanges in the order sent.
func (p *pipeline) read() {
	defer close(p.free)
	down := p.client.work.Down.Bytes
	var have, came int64 // of the exchange that is next; in all
	var broken error
	for f := range p.sent {
		for have < down && broken == nil {
			var n int64
			n, broken = p.link.receive(p.client.buffer)
			have, came = have+n, came+n
			if broken == nil && came > p.begun.Load()*down {
				broken = errSurplus
			}
			if broken != nil {
				_ = p.link.Close() // so that a blocked writer ends too
				p.client.Lose(p.number)
			}
		}
		have -= down
		switch {
		case broken == nil:
			f.slot.Done(f.sent, load.Now(), down)
		case !p.client.Closed():
			f.slot.Fail(load.KindOf(broken))
		}
		p.free <- f.slot // also when broken: the writer's next send fails and ends it
	}
}
