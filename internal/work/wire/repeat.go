package wire

import (
	"fmt"
	"time"

	"netdyno/internal/work/load"
)

// repeatWaits are the waits before a connection's first exchange with another's server is
// tried again: a server that starts, or that limits how fast connections come, is given
// a second and a half.
var repeatWaits = []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond, 400 * time.Millisecond, 800 * time.Millisecond}

// Repeat calls try until it succeeds, fails in a way that again does not take, or has
// been repeated five times with growing waits. It returns how often it was repeated; the
// error is the last one.
func Repeat(try func() error, again func(error) bool) (repeats int, err error) {
	for err = try(); err != nil && repeats < len(repeatWaits) && again(err); err = try() {
		time.Sleep(repeatWaits[repeats])
		repeats++
	}
	return repeats, err
}

// Tried adds to a failure how often it was tried; nil stays nil.
func Tried(repeats int, err error) error {
	if err == nil || repeats == 0 {
		return err
	}
	return load.Failure(load.KindOf(err), fmt.Errorf("%s (tried %d times)", load.TextOf(err), repeats+1))
}
