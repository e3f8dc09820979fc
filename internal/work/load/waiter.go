package load

import "time"

// Waiter waits for due times on behalf of one goroutine, by the runtime's timers and
// the load's alarm, which keeps them punctual. What lateness is left is recorded as
// lag. Spinning would be more exact, but a spinning goroutine for each connection
// would take the processor from the others.
type Waiter struct {
	load  *Load
	timer *time.Timer
}

// NewWaiter returns a waiter that gives up when the load has ended.
func (l *Load) NewWaiter() *Waiter { return &Waiter{load: l} }

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
	w.load.WakeAt(due)
	select {
	case <-w.timer.C:
		return true
	case <-w.load.ended:
		w.timer.Stop()
		return Now() >= due
	}
}

// WakeAt makes the runtime check its timers at an instant on the clock of Now. Call
// it when you wait for a due time with a timer of your own.
func (l *Load) WakeAt(due int64) { l.alarm.wakeAt(due, l.ended) }
