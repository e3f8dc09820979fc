package usage

import (
	"bytes"

	"netdyno/internal/contract"
)

// Stopped returns the processes under the roots, those included, that a signal or
// a debugger holds, parents first.
func (t *Tree) Stopped(roots []int) []contract.Stopped {
	var held []contract.Stopped
	t.walk(roots, func(pid int, _ []int) {
		text, err := t.file.process(pid, "stat")
		if err != nil {
			return // it has ended
		}
		if s, stopped := parseStopped(text); stopped {
			s.PID = pid
			held = append(held, s)
		}
	})
	return held
}

// parseStopped reads name and state of /proc/PID/stat. Source: proc_pid_stat(5).
func parseStopped(text []byte) (contract.Stopped, bool) {
	begin, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if begin < 0 || end < begin || len(text) < end+3 {
		return contract.Stopped{}, false
	}
	state := text[end+2]
	return contract.Stopped{Name: string(text[begin+1 : end]), Traced: state == 't'}, state == 'T' || state == 't'
}
