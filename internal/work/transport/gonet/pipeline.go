package gonet

import (
	"net"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// pipeline keeps several exchanges in flight on one connection: a writer
// sends in order of due, a reader completes in the order sent.
type pipeline struct {
	client *client
	conn   net.Conn
	free   chan *load.Slot // done, to be asked for its next exchange
	sent   chan flight     // in the order written; closed by the writer
	slots  int
}

type flight struct {
	slot *load.Slot
	sent int64
}

// waiting is a slot whose next exchange is known but not yet due.
type waiting struct {
	slot *load.Slot
	due  int64
}

func newPipeline(c *client, conn net.Conn, slots []load.Slot) *pipeline {
	p := &pipeline{
		client: c, conn: conn, slots: len(slots),
		free: make(chan *load.Slot, len(slots)), sent: make(chan flight, len(slots)),
	}
	for i := range slots {
		p.free <- &slots[i]
	}
	return p
}

// write sends exchanges until every slot is let go or the connection breaks.
func (p *pipeline) write() {
	defer close(p.sent)
	sleep := load.NewWaiter(p.client.load.Ended())
	var queue []waiting
	for left := p.slots; left > 0; {
		if len(queue) == 0 {
			slot, ok := <-p.free
			if !ok {
				return
			}
			queue, left = ask(queue, slot, left)
		}
		for drained := false; !drained; {
			select {
			case slot, ok := <-p.free:
				if !ok {
					return
				}
				queue, left = ask(queue, slot, left)
			default:
				drained = true
			}
		}
		if len(queue) == 0 {
			continue
		}
		next := earliest(queue)
		if !sleep.Until(next.due) {
			next.slot.Cancel()
			queue, left = remove(queue, next), left-1
			continue
		}
		queue = remove(queue, next)
		p.sent <- flight{next.slot, load.Now()}
		if _, err := p.conn.Write(p.client.payload); err != nil {
			return // the reader sees the same end and counts it
		}
	}
}

func ask(queue []waiting, slot *load.Slot, left int) ([]waiting, int) {
	due, more := slot.Next(load.Now())
	if !more {
		return queue, left - 1
	}
	return append(queue, waiting{slot, due}), left
}

func earliest(queue []waiting) waiting {
	first := queue[0]
	for _, w := range queue[1:] {
		if w.due < first.due {
			first = w
		}
	}
	return first
}

func remove(queue []waiting, w waiting) []waiting {
	for i := range queue {
		if queue[i].slot == w.slot {
			queue[i] = queue[len(queue)-1]
			return queue[:len(queue)-1]
		}
	}
	return queue
}

// read completes exchanges in the order sent.
func (p *pipeline) read() {
	defer close(p.free)
	size := len(p.client.payload)
	back := make([]byte, min(size, 64<<10))
	broken := false
	for f := range p.sent {
		if !broken && readAll(p.conn, back, size) != nil {
			broken = true
			_ = p.conn.Close() // so that a blocked writer ends too
			if !p.client.closed.Load() {
				p.client.alive.Add(-1)
			}
		}
		switch {
		case !broken:
			f.slot.Done(f.sent, load.Now(), int64(size))
		case !p.client.closed.Load():
			f.slot.Fail(contract.Peer)
		}
		p.free <- f.slot // also when broken: the writer's next write fails and ends it
	}
}
