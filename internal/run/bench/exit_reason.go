package bench

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
)

// atHost says where it was that something happened; nothing on this host itself.
func atHost(h rig.Host, text string) string {
	if len(h.Prefix) == 0 {
		return text
	}
	return h.Name + ": " + text
}

// exitReason describes why a worker ended unexpectedly, and of what kind that failure
// is. The meter's last line says how its worker ended. Without that line the meter
// itself has ended, or the command that reaches it, and how the worker fared is unknown.
func (c *conversation) exitReason(launched rig.Exit) (contract.ErrorKind, string) {
	c.mu.Lock()
	told := c.worker.Exit
	c.mu.Unlock()
	stderr := strings.TrimSpace(c.process.Stderr())
	who, code, signal, why := "the worker", launched.Code, launched.Signal, ""
	switch {
	case told != nil:
		code, signal, why = told.Code, told.Signal, killedBy(*told)
	case len(c.host.Prefix) > 0:
		who = filepath.Base(c.host.Prefix[0])
		why = " before the meter said how the worker ended: the connection is gone, or the meter was killed"
	default:
		who = "the worker's meter"
	}
	kind := contract.Peer
	if told != nil && (told.OutOfMemory != "" && signal == sigkill || ranOutOfMemory(stderr)) {
		kind = contract.SetupFailed // too little of what the host has to give
		if ranOutOfMemory(stderr) {
			why = " for lack of memory"
		}
	}
	status := fmt.Sprintf("status %d", code)
	if signal != "" {
		status += ", " + signal
	}
	if launched.Running {
		status = "its stdout alone"
	}
	return kind, fmt.Sprintf("%s ended (%s)%s; it said on stderr: %s", who, status, why, cmp.Or(stderr, "nothing"))
}

// nameLackOfMemory adds to a failure that the kernel killed processes of a worker
// for lack of memory, where nobody has said so: of a program that a worker started,
// say.
func nameLackOfMemory(r *record.Record) {
	if r.Failure == nil {
		return
	}
	for _, w := range r.Workers {
		if w.Exit != nil && w.Exit.OutOfMemory != "" && !strings.Contains(r.Failure.Text, w.Exit.OutOfMemory) {
			r.Failure.Text += fmt.Sprintf("; of %s: %s", w.Name, w.Exit.OutOfMemory)
		}
	}
}

// sigkill is the name that the meter has for it.
const sigkill = "SIGKILL"

// killedBy says who sent a SIGKILL that was not the meter's, as far as the kernel
// tells; nothing of any other end.
func killedBy(e contract.Exit) string {
	switch {
	case e.Signal != sigkill || e.Reason != "":
		return ""
	case e.OutOfMemory != "":
		return ": " + e.OutOfMemory
	}
	return ": another process killed it; the kernel counts no kill for lack of memory"
}

// ranOutOfMemory recognizes what runtimes say before they end for lack of memory:
// those of Go, of C++ and of Python.
func ranOutOfMemory(stderr string) bool {
	last := []string{"runtime: out of memory", "runtime: cannot allocate memory", "fatal error: out of memory", "failed to reserve page summary memory", "std::bad_alloc", "MemoryError"}
	return slices.ContainsFunc(last, func(said string) bool { return strings.Contains(stderr, said) })
}
