package rigs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdyno/internal/record"
	"netdyno/test/lab"
	"netdyno/test/running"
)

// hang is longer than anything may take whose deadlines work: a minute for a
// rig to recover is the longest of them.
const hang = 90 * time.Second

// underway is a run whose workers a test can hold in a state. The goroutine of
// the test owns it.
type underway struct {
	bed
	*running.Run
	t    *testing.T
	gate string // path of the file that names the state to hold workers in
}

// start starts a run, and returns once its rig is ready and trials begin.
func (b bed) start(t *testing.T, args ...string) *underway {
	t.Helper()
	c, dir := b.command(t, args...)
	u := &underway{bed: b, Run: running.Start(t, c, dir, hang), t: t, gate: filepath.Join(bin, b.worker)}
	t.Cleanup(u.release)
	u.Until(t, "trials begin", func() bool {
		_, err := record.ReadHeader(filepath.Join(u.Dir, record.RecordsFile))
		return err == nil
	})
	return u
}

// hold has every worker that comes to a state wait there.
func (u *underway) hold(state string) {
	u.t.Helper()
	// All at once: a worker must not see a part of the name.
	part := u.gate + ".new"
	if err := os.WriteFile(part, []byte(state), 0o600); err != nil {
		u.t.Fatal(err)
	}
	if err := os.Rename(part, u.gate); err != nil {
		u.t.Fatal(err)
	}
}

// release lets all go on.
func (u *underway) release() { _ = os.Remove(u.gate) } // there may be none

// held holds the next workers that come to a state, waits for all that come to
// it at once, and returns the one of a host, counted from 1, with the number of
// their trial's record. Trials that end while workers are awaited count before.
func (u *underway) held(state string, node int) (victim lab.Process, number int) {
	u.t.Helper()
	u.hold(state)
	workers := 3
	switch state {
	case "idle":
		workers = 1
	case "unconnected":
		workers = 2
	}
	u.Until(u.t, fmt.Sprintf("%d workers are held in state %s, one at node%d", workers, state, node), func() bool {
		there := u.named("in-" + state)
		if i := slices.IndexFunc(there, func(p lab.Process) bool { return u.at(p, node) }); i >= 0 {
			victim = there[i]
		}
		return len(there) == workers && victim.Pid != 0
	})
	return victim, len(u.Contents(u.t).Records)
}

// named returns the run's processes of a command name.
func (u *underway) named(name string) []lab.Process {
	u.t.Helper()
	return slices.DeleteFunc(lab.Running(u.t, u.worker), func(p lab.Process) bool {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", p.Pid))
		return err != nil || strings.TrimSpace(string(comm)) != name
	})
}

// at tells whether a process is on the network of a host.
func (u *underway) at(p lab.Process, node int) bool {
	addresses, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/fib_trie", p.Pid))
	return err == nil && strings.Contains(string(addresses), " "+u.address(node)+"\n")
}

// nodeOf returns the number of a process's host, and placeOf its name.
func (u *underway) nodeOf(p lab.Process) int {
	u.t.Helper()
	for node := range names {
		if u.at(p, node) {
			return node
		}
	}
	u.t.Fatalf("%v is at no place of rig %s", p, u.rig)
	return 0
}

func (u *underway) placeOf(p lab.Process) string { return fmt.Sprintf("node%d", u.nodeOf(p)) }

// killCarrier kills the processes of a program in the hub that have all parts in
// their command line; there must be one.
func (u *underway) killCarrier(program string, parts ...string) {
	u.t.Helper()
	killed := 0
	for _, p := range u.Processes(u.t, 0) {
		line := strings.Join(p.Argv, " ")
		if filepath.Base(p.Argv[0]) != program || slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			continue
		}
		u.kill(p.Pid)
		killed++
	}
	if killed == 0 {
		u.t.Errorf("kill %s with %q: there is none among %v", program, parts, u.Processes(u.t, 0))
	}
}

// parent returns a process's parent.
func (u *underway) parent(p lab.Process) int {
	u.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid))
	if err != nil {
		u.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\nPPid:\t")
	line, _, _ := strings.Cut(rest, "\n")
	pid, err := strconv.Atoi(line)
	if err != nil || pid <= 1 {
		u.t.Fatalf("find the parent of %v: %q, %v", p, line, err)
	}
	return pid
}

// kill kills a process of the run.
func (u *underway) kill(pid int) {
	u.t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		u.t.Errorf("kill process %d: %v", pid, err)
	}
}

// interrupt ends the run as Ctrl-C does, and waits for its end.
func (u *underway) interrupt() {
	u.t.Helper()
	if err := u.Cmd.Process.Signal(os.Interrupt); err != nil {
		u.t.Error(err)
	}
	if code, said := u.End(u.t); code != 1 || !strings.Contains(said, "--continue goes on") {
		u.t.Errorf("the interrupted run exits with %d, want 1 and a word on how to go on", code)
	}
}
