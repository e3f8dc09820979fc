package wire

import (
	"errors"
	"sync/atomic"

	"netdyno/internal/work/load"
)

// Asked counts the exchanges that a client makes before it is ready. Any goroutine may
// use it.
type Asked struct{ first, repeated atomic.Int64 }

// Requests implements Requester for a library that sends nothing again by itself.
func (a *Asked) Requests() (first, again int64) { return a.first.Load(), a.repeated.Load() }

// First counts an exchange of which err came, where its request went out.
func (a *Asked) First(err error) {
	if !errors.As(err, new(load.UnsentError)) {
		a.first.Add(1)
	}
}

// Tries are those of one exchange before ready: the first that goes out, and those that
// go out again. One goroutine uses them.
type Tries struct {
	of     *Asked
	before bool
}

// Tries returns what counts those of an exchange.
func (a *Asked) Tries() *Tries { return &Tries{of: a} }

// Tried counts a try of which err came, and returns err.
func (t *Tries) Tried(err error) error {
	switch {
	case errors.As(err, new(load.UnsentError)):
	case t.before:
		t.of.repeated.Add(1)
	default:
		t.before = true
		t.of.first.Add(1)
	}
	return err
}
