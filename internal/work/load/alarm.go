package load

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// alarm wakes an idle runtime when its timers are due. Without it the runtime sleeps
// in epoll_wait, whose timeout is in whole milliseconds, and is up to 1 ms late
// (golang/go#44343). A timerfd in the same epoll set ends that sleep on time. A busy
// runtime checks its timers anyway. Any goroutine may use it; the zero value is
// ready to use.
type alarm struct {
	begin sync.Once
	timer *os.File // nil where the kernel has none to give; timers are late then
	fd    int      // its number

	mu     sync.Mutex
	closed bool             // fd may be another file's by now
	dues   Agenda[struct{}] // instants to come
	armed  int64            // the one that the timer is set to; idle for none
	rang   int64            // when it last did
}

// grain is the least time in ns between two wake-ups. Exchanges that are due in
// between are sent together, so that wake-ups cost a few percent of a CPU at most.
const grain = 50_000

// wakeAt sets the alarm for an instant on the clock of Now, besides those that it
// is set for already, until ended is closed.
func (a *alarm) wakeAt(due int64, ended <-chan struct{}) {
	a.begin.Do(func() { a.start(ended) })
	if a.timer == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.dues.Push(due, struct{}{})
	if due = max(due, a.rang+grain); due < a.armed {
		a.arm(due)
	}
}

func (a *alarm) start(ended <-chan struct{}) {
	a.armed = idle
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return
	}
	a.timer, a.fd = os.NewFile(uintptr(fd), "timerfd"), fd
	go a.ring()
	go func() {
		<-ended
		a.mu.Lock()
		defer a.mu.Unlock()
		a.closed = true
		_ = a.timer.Close() // ends ring; there is nothing to lose
	}()
}

// arm sets the timer; with mu held.
func (a *alarm) arm(due int64) {
	if a.closed {
		return
	}
	in := unix.NsecToTimespec(max(due-Now(), 1)) // 0 would disarm it
	if unix.TimerfdSettime(a.fd, 0, &unix.ItimerSpec{Value: in}, nil) == nil {
		a.armed = due
	}
}

// ring waits for the timer again and again; that alone wakes the runtime.
func (a *alarm) ring() {
	var times [8]byte
	for {
		if _, err := a.timer.Read(times[:]); err != nil {
			return
		}
		a.mu.Lock()
		a.armed = idle
		now := Now()
		a.rang = now
		for a.dues.Len() > 0 {
			if due, _ := a.dues.Peek(); due > now {
				a.arm(max(due, now+grain))
				break
			}
			a.dues.Pop()
		}
		a.mu.Unlock()
	}
}

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

// Pace keeps the goroutines of a server to instants. The zero value is ready to use.
type Pace struct{ alarm alarm }

// Until waits for an instant on the clock of Now.
func (p *Pace) Until(at int64) {
	if wait := at - Now(); wait > 0 {
		p.alarm.wakeAt(at, nil)
		time.Sleep(time.Duration(wait))
	}
}

var epoch = time.Now()

// Now returns the worker's monotonic clock in ns. It costs one vDSO call.
func Now() int64 { return int64(time.Since(epoch)) }
