package gogrpc

import "time"

// farewell bounds how long an end waits for the library to let go of its
// connections. Ten thousand of them, or one reply that is being compressed, take
// longer than a worker may take to end (CONTRACT.md, section Life): what is left
// goes on beside the caller, or goes with the process.
const farewell = time.Second

// within waits for f, for a time.
func within(d time.Duration, f func()) {
	done := make(chan struct{})
	go func() {
		f()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(d):
	}
}
