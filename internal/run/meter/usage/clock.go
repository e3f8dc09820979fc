package usage

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Now returns the host's monotonic clock in ns.
func Now() int64 {
	var t unix.Timespec
	// CLOCK_MONOTONIC cannot fail with a valid pointer.
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano()
}

// OwnCPU returns the CPU time of this process in ns: what reading has cost so far.
func OwnCPU() int64 {
	var t unix.Timespec
	// CLOCK_PROCESS_CPUTIME_ID cannot fail with a valid pointer.
	_ = unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t)
	return t.Nano()
}

// processCPU returns the CPU time of every thread, living or dead, of one
// process in ns: the scheduler's own sum, brought up to date by the call. It
// works for a zombie too. The error is unix.EINVAL when there is no such
// process.
//
// Source: Linux kernel, include/linux/posix-timers_types.h, "CPUCLOCK": a
// clock's id is the complement of the pid, shifted by three, and the kind 2
// (CPUCLOCK_SCHED); clock_getcpuclockid(3) returns the same.
func processCPU(pid int) (int64, error) {
	const sched = 2
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|sched), &t); err != nil {
		return 0, fmt.Errorf("read the CPU clock of process %d: %w", pid, err)
	}
	return t.Nano(), nil
}
