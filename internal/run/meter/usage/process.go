package usage

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/procstat"
)

// stat is what the meter takes from /proc/PID/stat, in ns.
type stat struct {
	parent                       int
	userNs, systemNs             int64
	waitedUserNs, waitedSystemNs int64
	began                        int64 // ticks after the boot
}

// parseStat reads a process, or a thread. It reports false for a torn line.
func parseStat(text []byte) (stat, bool) { return statOf(procstat.Parse(text)) }

func statOf(s procstat.Stat) (stat, bool) {
	if !s.Has(procstat.Began) {
		return stat{}, false
	}
	return stat{
		parent:         int(s.Number(procstat.Parent)),
		userNs:         s.Number(procstat.User) * tick,
		systemNs:       s.Number(procstat.System) * tick,
		waitedUserNs:   s.Number(procstat.WaitedUser) * tick,
		waitedSystemNs: s.Number(procstat.WaitedSystem) * tick,
		began:          s.Number(procstat.Began),
	}, true
}

// addTo adds what the kernel counts in ticks. Children that were waited for are in no
// live process's clock, only in their parent's sum.
func (s stat) addTo(p *contract.Process) {
	p.CPUNs += s.waitedUserNs + s.waitedSystemNs
	p.UserNs += s.userNs + s.waitedUserNs
	p.SystemNs += s.systemNs + s.waitedSystemNs
}

// addProcess adds one process of the tree to the sums and its threads to the
// list. A process that ends meanwhile adds what could still be read; the CPU
// time of the process is then, for this one reading, missing from its parent,
// which was visited earlier.
func (r *Reader) addProcess(m *contract.Meter, pid int, threads []int) {
	cpu, err := processCPU(pid)
	if err != nil {
		return
	}
	p := &m.Process
	p.Processes++
	p.CPUNs += cpu
	if text, err := r.tree.file.process(pid, "stat"); err == nil {
		fields := procstat.Parse(text)
		if s, held := stoppedBy(pid, fields); held {
			r.stopped = append(r.stopped, s)
		}
		if s, ok := statOf(fields); ok {
			s.addTo(p)
			if r.met != nil {
				r.met(pid, s)
			}
		}
	}
	var rss, peak int64
	for _, tid := range threads {
		text, err := r.tree.file.thread(pid, tid, "status")
		if err != nil {
			continue // the thread has ended
		}
		p.Threads++
		p.VoluntarySwitches += number(field(text, "\nvoluntary_ctxt_switches:\t"))
		p.InvoluntarySwitches += number(field(text, "\nnonvoluntary_ctxt_switches:\t"))
		// The threads share their memory, but a leader that has ended while
		// others live has none to show.
		rss = max(rss, number(field(text, "\nVmRSS:"))<<10)
		peak = max(peak, number(field(text, "\nVmHWM:"))<<10)
		r.ignores = r.ignores || tid == pid && ignoresChildren(text)
		name := string(field(text, "Name:\t")) // before threadCPU reads into the same memory
		cpu, wait := r.threadTimes(pid, tid)
		m.Threads = append(m.Threads, contract.Thread{ID: tid, Name: name, CPUNs: cpu, WaitNs: wait})
	}
	p.RSSBytes += rss
	p.PeakRSSBytes += peak
}

// threadTimes returns a thread's CPU time in ns, and how long it could run and
// waited for a CPU: the scheduler's account where the kernel keeps one (exact for
// a thread off the CPU, at most one scheduler tick behind for one on it), else the
// CPU time in 10 ms ticks and no wait.
//
// Source: Documentation/scheduler/sched-stats.rst of Linux, "/proc/<pid>/schedstat".
func (r *Reader) threadTimes(pid, tid int) (cpu, wait int64) {
	if text, err := r.tree.file.thread(pid, tid, "schedstat"); err == nil {
		cpu, rest, _ := bytes.Cut(text, []byte(" "))
		return number(cpu), number(rest)
	}
	text, _ := r.tree.file.thread(pid, tid, "stat")
	s, _ := parseStat(text) // of a thread that has ended nothing
	return s.userNs + s.systemNs, 0
}

// keepBusiest cuts a list to contract.MaxThreads, busiest first.
func keepBusiest(threads []contract.Thread) []contract.Thread {
	slices.SortStableFunc(threads, func(a, b contract.Thread) int { return cmp.Compare(b.CPUNs, a.CPUNs) })
	return threads[:min(len(threads), contract.MaxThreads)]
}

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
