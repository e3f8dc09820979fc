package flow

import (
	"math"
	"sync"
	"time"

	"netdyno/internal/work/load"
)

// pipeline keeps exchanges in flight on one connection: its writer sends what is due
// while its reader receives. Writer and reader take the lock for the flow and its agenda,
// and release it while they wait for the connection.
type pipeline struct {
	driver
	more chan struct{} // the reader has changed what the writer waits for

	mu    sync.Mutex // of the client and its agenda
	begun *sync.Cond // an exchange has begun, or none ever will
	over  bool       // the writer has ended
}

func newPipeline(d driver) *pipeline {
	p := &pipeline{driver: d, more: make(chan struct{}, 1)}
	p.begun = sync.NewCond(&p.mu)
	return p
}

// run returns when every slot is let go. The error says that the connection was
// lost.
func (p *pipeline) run() error {
	p.client.Begin()
	var writing sync.WaitGroup
	writing.Go(p.writePieces)
	err := p.readPieces()
	writing.Wait()
	return err
}

// writePieces sends what is due until every slot is let go or the connection breaks.
func (p *pipeline) writePieces() {
	defer func() {
		p.mu.Lock()
		p.over = true
		p.begun.Signal()
		p.mu.Unlock()
	}()
	ended := p.load.Ended()
	timer := time.NewTimer(math.MaxInt64)
	defer timer.Stop()
	for {
		piece, due, held := p.nextPiece()
		switch {
		case held == 0:
			return
		case len(piece) > 0:
			if _, err := p.conn.Write(piece); err != nil {
				return // the reader meets the same end and counts it
			}
			continue
		case due != never:
			timer.Reset(time.Duration(due - load.Now()))
			p.load.WakeAt(due)
		}
		select {
		case <-p.more:
		case <-timer.C:
		case <-ended:
			ended = nil
			p.end()
		}
	}
}

const never = math.MaxInt64

// nextPiece returns the bytes to write now, if any; else when the next exchange is due,
// never if none waits. Without slots that are held nothing is left to do.
func (p *pipeline) nextPiece() (piece []byte, due int64, held int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client.lost {
		return nil, never, 0
	}
	due = p.fire()
	if p.client.Unsent() {
		piece = p.client.Outgoing()
		p.client.Written(len(piece)) // before its answer can come
		p.begun.Signal()
	}
	return piece, due, p.agenda.Held()
}

// fire takes up what is due and returns when the rest is, never if nothing waits.
func (p *pipeline) fire() int64 {
	for {
		due, waiting := p.agenda.Due()
		if !waiting {
			return never
		}
		if p.agenda.Fire(load.Now()) == nil {
			return due
		}
	}
}

// end lets go of what is due later than now, when the load has ended.
func (p *pipeline) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.agenda.End(load.Now())
}

// readPieces receives answers while exchanges are in flight.
func (p *pipeline) readPieces() error {
	for {
		missing, inFlight := p.expect()
		if !inFlight {
			return nil
		}
		n, err := p.conn.Receive(missing)
		if err = p.took(n, err); err != nil {
			return err
		}
	}
}

// expect waits until an exchange is in flight and returns how many bytes complete
// it; false when the writer has ended and none is.
func (p *pipeline) expect() (missing int64, inFlight bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.client.inFlight() && !p.over {
		p.begun.Wait()
	}
	return p.client.missing(), p.client.inFlight()
}

// took completes exchanges with n bytes that came, or gives up the connection.
func (p *pipeline) took(n int, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	answered := p.client.answered
	if err == nil {
		err = p.client.took(n)
	}
	if err != nil {
		_ = p.conn.Close() // so that a blocked writer ends too
		p.abandon(err)
	}
	if err != nil || p.client.answered > answered {
		select {
		case p.more <- struct{}{}:
		default: // it has not looked since the last time
		}
	}
	return err
}
