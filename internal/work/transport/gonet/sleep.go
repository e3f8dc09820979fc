package gonet

import (
	"time"

	"netdyno/internal/work/load"
)

// sleeper waits for due times on behalf of one goroutine. The runtime's timers
// overshoot by up to 1 ms (golang/go#44343); what they add is recorded as lag.
// Spinning would be more exact, but one spinning goroutine per connection
// would take the processor from the others.
type sleeper struct {
	ended <-chan struct{}
	timer *time.Timer
}

func newSleeper(ended <-chan struct{}) *sleeper { return &sleeper{ended: ended} }

// until waits for due and reports false when the load ended first.
func (s *sleeper) until(due int64) bool {
	wait := due - load.Now()
	if wait <= 0 {
		return true
	}
	if s.timer == nil {
		s.timer = time.NewTimer(time.Duration(wait))
	} else {
		s.timer.Reset(time.Duration(wait))
	}
	select {
	case <-s.timer.C:
		return true
	case <-s.ended:
		s.timer.Stop()
		return load.Now() >= due
	}
}
