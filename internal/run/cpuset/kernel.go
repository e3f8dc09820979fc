package cpuset

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

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
	set, err := settable(cpus)
	if err == nil {
		err = unix.SchedSetaffinity(0, &set)
	}
	if err != nil {
		return fmt.Errorf("set CPUs %s: %w; this process may use %s", Format(cpus), err, Format(Of(0)))
	}
	return nil
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

// PinSelf binds every thread of this process to the CPUs; threads and
// processes that appear later inherit them. An empty set changes nothing. The
// error says which CPUs can be used here.
func PinSelf(cpus []int) error {
	if len(cpus) == 0 {
		return nil
	}
	set, err := settable(cpus)
	if err != nil {
		return fmt.Errorf("set CPUs %s: %w", Format(cpus), err)
	}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("set CPUs %s: %w", Format(cpus), err)
	}
	for _, task := range tasks {
		tid, err := strconv.Atoi(task.Name())
		if err != nil {
			continue
		}
		if err := unix.SchedSetaffinity(tid, &set); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("set CPUs %s: %w; this process may use %s", Format(cpus), err, Format(Of(0)))
		}
	}
	// The kernel accepts a set of which only a part exists.
	if got := Format(Of(0)); got != Format(cpus) {
		return fmt.Errorf("set CPUs %s: only %s of them can be used here", Format(cpus), got)
	}
	return nil
}
