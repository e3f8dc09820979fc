package wire

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// repeatWaits are the waits before a connection's first exchange with another's server is
// tried again: a server that starts, or that limits how fast connections come, is given
// a second and a half.
var repeatWaits = []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}

// Repeat calls try until it succeeds or has failed too often: five times with growing waits
// where later takes the error, and at once as often as by chance where exchanges may fail by
// the share of most and failed takes it. It returns how often it was repeated; the error is
// the last one.
func Repeat(most float64, try func() error, later, failed func(error) bool) (repeats int, err error) {
	tries := contract.Tries(most)
	for err = try(); err != nil; err = try() {
		switch {
		case repeats < len(repeatWaits) && later(err):
			time.Sleep(repeatWaits[repeats])
		case repeats+1 >= tries || !failed(err):
			return repeats, err
		}
		repeats++
	}
	return repeats, nil
}

// Fails tells whether an error is of an exchange that went out, as a load counts it.
func Fails(err error) bool {
	kind := load.KindOf(err)
	return kind == contract.Peer || kind == contract.Timeout || kind == contract.Invalid
}

// Tried adds to a failure how often it was tried; nil stays nil.
func Tried(repeats int, err error) error {
	if err == nil || repeats == 0 {
		return err
	}
	return load.Failure(load.KindOf(err), fmt.Errorf("%s (tried %d times)", load.TextOf(err), repeats+1))
}

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

// Tries are the attempts of one exchange before ready: the first, and its repetitions.
// One goroutine uses them.
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
