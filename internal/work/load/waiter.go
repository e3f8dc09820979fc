package load

import "time"

// Waiter waits for due times on behalf of one goroutine. The runtime's timers
// overshoot by up to 1 ms (golang/go#44343); what they add is recorded as lag.
// Spinning would be more exact, but one spinning goroutine per connection
// would take the processor from the others.
type Waiter struct {
	ended <-chan struct{}
	timer *time.Timer
}

// NewWaiter returns a waiter that gives up when ended is closed.
func NewWaiter(ended <-chan struct{}) *Waiter { return &Waiter{ended: ended} }

// Until waits for due and reports false when the load ended first.
func (w *Waiter) Until(due int64) bool {
	wait := due - Now()
	if wait <= 0 {
		return true
	}
	if w.timer == nil {
		w.timer = time.NewTimer(time.Duration(wait))
	} else {
		w.timer.Reset(time.Duration(wait))
	}
	select {
	case <-w.timer.C:
		return true
	case <-w.ended:
		w.timer.Stop()
		return Now() >= due
	}
}
