package usage

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"netdyno/internal/contract"
	"netdyno/internal/procstat"
)

// Tree finds the threads and the children of processes. The zero value is
// ready; one goroutine may use it.
type Tree struct {
	file   procfile
	leaves map[int]bool // processes whose children are not theirs: nil for none
	// parents is a scan of /proc, made when the kernel lacks
	// CONFIG_PROC_CHILDREN; it lasts for one walk.
	parents map[int][]int
}

// walk calls visit for each root and each of its descendants, parents first,
// once each. A process that ends meanwhile may or may not be visited.
func (t *Tree) walk(roots []int, visit func(pid int, threads []int)) {
	t.parents = nil
	queue := slices.Clone(roots)
	seen := make(map[int]bool, len(roots))
	for len(queue) > 0 {
		pid := queue[0]
		queue = queue[1:]
		if seen[pid] {
			continue
		}
		seen[pid] = true
		threads := threadsOf(pid)
		visit(pid, threads)
		if t.leaves[pid] {
			continue
		}
		queue = append(queue, t.childrenOf(pid, threads)...)
	}
}

// Children returns the direct children of one process, zombies included.
func (t *Tree) Children(pid int) []int {
	t.parents = nil
	return t.childrenOf(pid, threadsOf(pid))
}

// Parent returns the parent of a process; 0 for one that has ended.
func Parent(pid int) int {
	var file procfile
	s, _ := file.stat(pid)
	return s.parent
}

// Processes returns the roots and all their descendants.
func (t *Tree) Processes(roots []int) []int {
	var all []int
	t.walk(roots, func(pid int, _ []int) { all = append(all, pid) })
	return all
}

// childrenOf asks every thread, because the kernel lists a child under the
// thread that forked it.
func (t *Tree) childrenOf(pid int, threads []int) []int {
	if t.parents != nil {
		return t.parents[pid]
	}
	var children []int
	for _, tid := range threads {
		text, err := t.file.thread(pid, tid, "children")
		if errors.Is(err, fs.ErrNotExist) && !exists("/proc/thread-self/children") {
			t.parents = t.scan()
			return t.parents[pid]
		}
		if err != nil {
			continue // the thread has ended
		}
		for word := range bytes.FieldsSeq(text) {
			children = append(children, int(number(word)))
		}
	}
	return children
}

// scan maps every process of the host to its children: some 10 µs for each
// process that exists, which is why it is the second choice.
func (t *Tree) scan() map[int][]int {
	parents := make(map[int][]int)
	for _, pid := range numbers("/proc") {
		if s, ok := t.file.stat(pid); ok {
			parents[s.parent] = append(parents[s.parent], pid)
		}
	}
	return parents
}

// threadsOf returns the thread ids of a process; none when it is gone.
func threadsOf(pid int) []int { return numbers("/proc/" + strconv.Itoa(pid) + "/task") }

// numbers returns the entries of a directory whose names are numbers.
func numbers(directory string) []int {
	d, err := os.Open(directory)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil
	}
	ids := make([]int, 0, len(names))
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Stopped returns the processes under the roots, those included, that a signal or
// a debugger holds, parents first.
func (t *Tree) Stopped(roots []int) []contract.Stopped {
	var held []contract.Stopped
	t.walk(roots, func(pid int, _ []int) {
		if s, stopped := t.Held(pid); stopped {
			held = append(held, s)
		}
	})
	return held
}

// Held tells whether a signal or a debugger holds a process now; false of one that has
// ended.
func (t *Tree) Held(pid int) (contract.Stopped, bool) {
	text, err := t.file.process(pid, "stat")
	if err != nil {
		return contract.Stopped{}, false
	}
	return stoppedBy(pid, procstat.Parse(text))
}

// Ended tells whether a process has ended or is about to: nobody has waited for it yet, or
// its threads go. Its connections may be closed before.
func (t *Tree) Ended(pid int) bool {
	text, err := t.file.process(pid, "stat")
	return err != nil || parseEnded(text)
}

// parseEnded reads the state and the flags of /proc/PID/stat. Source: PF_EXITING of
// include/linux/sched.h.
func parseEnded(text []byte) bool {
	const exiting = 0x4
	s := procstat.Parse(text)
	return s.Has(procstat.Flags) && (s.State() == 'Z' || s.State() == 'X' || s.Number(procstat.Flags)&exiting != 0)
}

// Exhausted returns the processes under the roots, those included, that have as many
// descriptors open as they may have.
func (t *Tree) Exhausted(roots []int) []contract.Exhausted {
	var all []contract.Exhausted
	t.walk(roots, func(pid int, _ []int) {
		text, err := t.file.process(pid, "limits")
		if err != nil {
			return // it has ended
		}
		// proc_pid_limits(5): name, soft limit, hard limit, unit.
		limit := number(field(text, "\nMax open files"))
		if limit == 0 || int64(len(numbers("/proc/"+strconv.Itoa(pid)+"/fd"))) < limit {
			return // or "unlimited"
		}
		all = append(all, contract.Exhausted{PID: pid, Name: executable(pid), Descriptors: int(limit)})
	})
	return all
}

// stoppedBy tells of a process by its state whether something holds it.
func stoppedBy(pid int, s procstat.Stat) (contract.Stopped, bool) {
	switch s.State() {
	case 'T':
		return contract.Stopped{PID: pid, Name: executable(pid)}, true
	case 't':
		return contract.Stopped{PID: pid, Name: executable(pid), Traced: true}, true
	}
	return contract.Stopped{}, false
}

// executable returns the file name of what a process executes: the kernel's own name
// of it has 15 bytes, which "netdyno-worker-" fills.
func executable(pid int) string {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return "process " + strconv.Itoa(pid)
	}
	return filepath.Base(path)
}
