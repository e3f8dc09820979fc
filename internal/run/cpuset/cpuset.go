// Package cpuset reads and writes sets of CPUs in the kernel's list format,
// "0,2-3", which command lines, /sys and taskset share.
//
// Source: Linux kernel, Documentation/admin-guide/cputopology.rst and
// cpuset(7), "List format".
package cpuset

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MaxID is the largest CPU number that is accepted; the kernel's own ceiling
// (NR_CPUS) is 8192 on x86.
const MaxID = 8191

// Parse returns the CPUs of a list, ascending and without repeats. Empty text
// is the empty set. The error names the part that is not a CPU or a range.
func Parse(text string) ([]int, error) {
	var cpus []int
	if text = strings.TrimSpace(text); text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			last = first
		}
		low, err1 := strconv.Atoi(first)
		high, err2 := strconv.Atoi(last)
		if err1 != nil || err2 != nil || low < 0 || high < low || high > MaxID {
			return nil, fmt.Errorf("parse CPU list %q: %q is neither a CPU nor a range such as 2-3 (0 to %d)", text, part, MaxID)
		}
		for id := low; id <= high; id++ {
			cpus = append(cpus, id)
		}
	}
	slices.Sort(cpus)
	return slices.Compact(cpus), nil
}

// Format is the inverse of Parse; cpus must be ascending.
func Format(cpus []int) string {
	var b strings.Builder
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(cpus[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(cpus[j]))
		}
		i = j + 1
	}
	return b.String()
}

// Without returns the CPUs of a that are not in b, which must be ascending.
func Without(a, b []int) []int {
	var rest []int
	for _, id := range a {
		if _, found := slices.BinarySearch(b, id); !found {
			rest = append(rest, id)
		}
	}
	return rest
}

// Common returns the CPUs that are in both sets; both must be ascending.
func Common(a, b []int) []int {
	var both []int
	for _, id := range a {
		if _, found := slices.BinarySearch(b, id); found {
			both = append(both, id)
		}
	}
	return both
}

// Of returns the CPUs that a process (its leading thread) may use; pid 0 is
// the calling thread. It is empty when the process is gone.
func Of(pid int) []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		return nil
	}
	cpus := make([]int, 0, set.Count())
	for id := 0; len(cpus) < cap(cpus); id++ {
		if set.IsSet(id) {
			cpus = append(cpus, id)
		}
	}
	return cpus
}

// PinThread binds the calling thread alone: its goroutine must be locked to it.
// The error says which CPUs can be used here.
func PinThread(cpus []int) error {
	if err := Pin(0, cpus); err != nil {
		return fmt.Errorf("set CPUs %s: %w; this process may use %s", Format(cpus), err, Format(Of(0)))
	}
	return nil
}

// Pin binds one thread, of whichever process, and nothing where it has ended. The error is
// the kernel's, which accepts a set of which only a part can be used.
func Pin(thread int, cpus []int) error {
	set, err := settable(cpus)
	if err == nil {
		err = unix.SchedSetaffinity(thread, &set)
	}
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

func settable(cpus []int) (unix.CPUSet, error) {
	var set unix.CPUSet
	for _, id := range cpus {
		set.Set(id)
		if !set.IsSet(id) {
			return set, fmt.Errorf("at most CPU %d can be set", len(set)*64-1)
		}
	}
	return set, nil
}

// PinProcess binds every thread that a process has.
func PinProcess(pid int, cpus []int) error {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		if tid, failed := strconv.Atoi(task.Name()); failed == nil && err == nil {
			err = Pin(tid, cpus)
		}
	}
	return err
}

// PinSelf binds every thread of this process to the CPUs; threads and
// processes that appear later inherit them. An empty set changes nothing. The
// error says which CPUs can be used here.
func PinSelf(cpus []int) error {
	if len(cpus) == 0 {
		return nil
	}
	if err := PinProcess(os.Getpid(), cpus); err != nil {
		return fmt.Errorf("set CPUs %s: %w; this process may use %s", Format(cpus), err, Format(Of(0)))
	}
	// The kernel accepts a set of which only a part exists.
	if got := Format(Of(0)); got != Format(cpus) {
		return fmt.Errorf("set CPUs %s: only %s of them can be used here", Format(cpus), got)
	}
	return nil
}
