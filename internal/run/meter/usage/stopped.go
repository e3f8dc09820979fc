package usage

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"

	"netdyno/internal/contract"
)

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
	return parseStopped(pid, text)
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

// parseStopped reads the state of /proc/PID/stat. Source: proc_pid_stat(5).
func parseStopped(pid int, text []byte) (contract.Stopped, bool) {
	end := bytes.LastIndexByte(text, ')')
	if end < 0 || len(text) < end+3 {
		return contract.Stopped{}, false
	}
	switch text[end+2] {
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
