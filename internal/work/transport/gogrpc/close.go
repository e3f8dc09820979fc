package gogrpc

import "time"

// closeTimeout bounds how long an end waits for the library to let go of its
// connections. Ten thousand of them, or one reply that is being compressed, can
// take longer than a worker may take to end (CONTRACT.md, section Life). What is
// not closed by then ends with the process.
const closeTimeout = time.Second

// within runs f and waits for it, but no longer than d.
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
