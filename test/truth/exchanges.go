package truth

import (
	"sync"
	"time"
)

// exchanges tells apart the exchanges of one connection, which has one in flight
// at a time: what goes up after something came down begins another. Both of the
// connection's directions call it.
type exchanges struct {
	relay *Relay

	mu               sync.Mutex
	number           int64 // of the exchange, among all of the relay
	turn             Turn
	going            bool  // something went up, and nothing has come down
	heldUp, heldDown int64 // of the last chunk each way, in ns
}

// up says for how long what came from the client is held.
func (e *exchanges) up() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.going {
		return e.turn.Up
	}
	r := e.relay
	if e.heldDown > 0 && e.number > r.inject.Uncounted { // the exchange before is complete
		r.held.Record(e.heldUp + e.heldDown)
	}
	e.number = r.turns.Add(1)
	e.going, e.turn = true, r.inject.Turn(e.number)
	if e.number == r.inject.StallAt {
		r.stalled.Store(r.now())
	}
	return e.turn.Up
}

// down says for how long what came from the server is held.
func (e *exchanges) down() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.going = false
	return e.turn.Down
}

func (e *exchanges) passedUp(ns int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heldUp = ns
}

func (e *exchanges) passedDown(ns int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heldDown = ns
}
