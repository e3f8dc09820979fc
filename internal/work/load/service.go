package load

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
)

// Service is the work of a server: for each exchange, in the order of their coming, a time
// is drawn and spent, on a CPU or asleep. Any goroutine may use it. A nil Service does
// nothing.
type Service struct {
	drawer *draw.Drawer
	sleeps bool
	number atomic.Uint64 // of the next exchange
	alarm  alarm
}

// ServiceOf returns the work that a server is told to do; nil for none. The error is of
// kind setup.
func ServiceOf(setup contract.Setup) (*Service, error) {
	if setup.Work == nil || setup.Role == contract.Client {
		return nil, nil
	}
	if err := setup.Work.Check(); err != nil {
		return nil, Failure(contract.SetupFailed, err)
	}
	return &Service{
		drawer: draw.NewDrawer(setup.Work.Ns, setup.Seed, draw.Work), sleeps: setup.Work.By == contract.WorkSleep,
	}, nil
}

// Sleeps reports whether the time is spent asleep.
func (s *Service) Sleeps() bool { return s != nil && s.sleeps }

// Next draws the time of the next exchange, in ns.
func (s *Service) Next() int64 { return s.drawer.Draw(s.number.Add(1) - 1) }

// Serve does the work of the next exchange and returns when it is done. The calling
// goroutine sleeps, or has a thread's CPU time to itself.
func (s *Service) Serve() {
	switch {
	case s == nil:
	case s.sleeps:
		ns := s.Next()
		if ns > 0 {
			s.alarm.wakeAt(Now()+ns, nil)
			time.Sleep(time.Duration(ns))
		}
	default:
		Spend(s.Next())
	}
}

// Spend makes the calling thread use ns of its own CPU time, to less than 1 µs: what preempts
// it, or a hypervisor takes, makes it last longer and takes nothing from the work. A clock
// of CPU time is a system call of some 0.5 µs, so it is read only when the time may be
// over: the clock of Now, which needs none, says from when on.
func Spend(ns int64) {
	if ns <= 0 {
		return
	}
	runtime.LockOSThread() // the clock is the thread's
	defer runtime.UnlockOSThread()
	reading := threadClock()
	for end := threadNow() + ns - reading; ; {
		left := end - threadNow()
		// What is nearer than the next reading could be is over.
		if left <= reading/2 {
			return
		}
		// The next reading sees a time as much later as a reading takes, besides the wait.
		for until := Now() + left - reading; Now() < until; {
		}
	}
}

// threadClock is what it takes from one reading of the thread's clock to the next, in ns,
// which belongs to the work too: the median of some.
var threadClock = sync.OnceValue(func() int64 {
	var took [101]int64
	for i := range took {
		took[i] = -threadNow() + threadNow()
	}
	slices.Sort(took[:])
	return took[len(took)/2]
})

// threadNow returns the CPU time of the calling thread in ns.
func threadNow() int64 {
	var at unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &at) // it cannot fail
	return at.Nano()
}
