package truth

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// alarm wakes one goroutine at an instant, much more precisely than the
// runtime's timers, which its poller rounds to milliseconds: a timerfd(2), whose
// end the poller hears of like that of any file. A sleep in a system call would
// take the processor from the other goroutines.
type alarm struct{ file *os.File }

// early is for how long before the instant the kernel is asked to wake us: what
// a wake-up takes. What it does not take is spun.
const early = 60 * time.Microsecond

func newAlarm() (alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return alarm{}, fmt.Errorf("create a timer: %w", err)
	}
	return alarm{os.NewFile(uintptr(fd), "timer")}, nil
}

// until returns true at the instant due of now's clock, and false when the alarm
// is closed before.
func (a alarm) until(due int64, now func() int64) bool {
	if left := due - now() - int64(early); left > 0 && !a.sleep(left) {
		return false
	}
	for now() < due {
		runtime.Gosched() // others of this process are due as well
	}
	return true
}

// sleep waits for ns; false when it cannot.
func (a alarm) sleep(ns int64) bool {
	raw, err := a.file.SyscallConn()
	if err != nil {
		return false
	}
	var set error
	err = raw.Control(func(fd uintptr) {
		set = unix.TimerfdSettime(int(fd), 0, &unix.ItimerSpec{Value: unix.NsecToTimespec(ns)}, nil)
	})
	if err != nil || set != nil {
		return false
	}
	var expirations [8]byte
	_, err = a.file.Read(expirations[:])
	return err == nil
}

// close ends a wait that is under way. Any goroutine may call it.
func (a alarm) close() error { return a.file.Close() }
