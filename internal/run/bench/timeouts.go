package bench

import (
	"cmp"
	"time"
)

// Timeouts is how long each step of a trial may take before the trial fails. A
// field that is 0 takes its standard, which is generous: it bounds hangs, it
// does not judge.
type Timeouts struct {
	Hello   time.Duration // for a worker to introduce itself; 10 s
	Setup   time.Duration // to listen or connect; 15 s, and perConnection on top
	Answer  time.Duration // to a mark, and to stop on top of the draining; 10 s
	Amount  time.Duration // for a fixed amount of work; 30 min
	Recover time.Duration // for a rig to recover from a failed trial; 60 s
}

const (
	perConnection = 2 * time.Millisecond // for making and verifying it
	leastDrain    = 2 * time.Second      // load.drain_ns, and the whole window where that is longer
)

// drain is how long a client waits for what is in flight at the end of a window. What a
// server takes its time for in a long window it may take its time for after it.
func (t *trial) drain() time.Duration { return max(leastDrain, t.work.Window) }

func (p Timeouts) orStandard() Timeouts {
	return Timeouts{
		Hello:   cmp.Or(p.Hello, 10*time.Second),
		Setup:   cmp.Or(p.Setup, 15*time.Second),
		Answer:  cmp.Or(p.Answer, 10*time.Second),
		Amount:  cmp.Or(p.Amount, 30*time.Minute),
		Recover: cmp.Or(p.Recover, time.Minute),
	}
}
