// Package ended waits for the end of a child process.
package ended

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// settle is how long the kernel is left to take down an ended process. Its last
// thread tells the parent before it has removed its own entries from /proc. A
// parent that reaps at once removes the same entries: it spins on the thread's locks
// for its whole time slice when it has taken that thread's CPU, which doubles the CPU
// that starting and ending a metered worker takes.
const settle = 2 * time.Millisecond

// Await returns when a child has ended and can be reaped without contention. It does
// not reap it, so the process id stays the child's. It returns at once for a process
// that is no child.
func Await(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		switch {
		case err == nil:
			time.Sleep(settle)
			return
		case !errors.Is(err, unix.EINTR):
			return
		}
	}
}
