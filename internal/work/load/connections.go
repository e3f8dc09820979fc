package load

import (
	"errors"
	"sync/atomic"

	"netdyno/internal/contract"
)

// Connections knows which of a load's active connections still work. Any
// goroutine may use it.
type Connections struct {
	lost   []atomic.Bool
	closed atomic.Bool
}

// NewConnections returns the active connections of a load, none of them lost.
func NewConnections(l *Load) *Connections {
	return &Connections{lost: make([]atomic.Bool, l.ActiveConnections())}
}

// Lose says that connection i does not work any more. An idle connection, which
// carries no load, is not counted.
func (c *Connections) Lose(i int) {
	if i < len(c.lost) {
		c.lost[i].Store(true)
	}
}

// Close says that the caller is about to break the connections, so that failures
// from now on count for nothing. It reports whether this call was the first.
func (c *Connections) Close() bool { return !c.closed.Swap(true) }

// Closed reports whether Close was called.
func (c *Connections) Closed() bool { return c.closed.Load() }

// Err returns an error of kind peer when every connection was lost before Close;
// else nil.
func (c *Connections) Err() error {
	if c.Closed() {
		return nil
	}
	for i := range c.lost {
		if !c.lost[i].Load() {
			return nil
		}
	}
	return Failure(contract.Peer, errors.New("every connection was lost"))
}
