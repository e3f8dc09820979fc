package rigs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdyno/internal/record"
)

const (
	// hang is longer than anything may take whose deadlines work: a minute for a
	// rig to recover is the longest of them.
	hang = 90 * time.Second
	poll = 100 * time.Millisecond // to look at every process of a machine is work
)

// underway is a run whose workers a test can hold in a state. The goroutine of
// the test owns it.
type underway struct {
	bed
	t     *testing.T
	cmd   *exec.Cmd
	dir   string // of its results
	said  string // path of what it printed
	gate  string // path of the file that names the state to hold workers in
	ended chan struct{}
}

// start starts a run, and returns once its rig is ready and trials begin.
func (b bed) start(t *testing.T, args ...string) *underway {
	t.Helper()
	u := &underway{bed: b, t: t, gate: filepath.Join(bin, b.worker), ended: make(chan struct{})}
	u.cmd, u.dir = b.command(t, args...)
	u.said = filepath.Join(filepath.Dir(u.dir), "said")
	said, err := os.Create(u.said)
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	u.cmd.Stdout, u.cmd.Stderr = said, said
	if err := u.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = u.cmd.Wait() // how it ended is in its state
		close(u.ended)
	}()
	t.Cleanup(func() {
		u.release()
		_ = u.cmd.Process.Kill() // it has ended as a rule
		<-u.ended
		if t.Failed() {
			t.Logf("netdyno said:\n%s", u.words())
		}
	})
	u.until("trials begin", func() bool {
		_, err := record.ReadHeader(filepath.Join(u.dir, record.RecordsFile))
		return err == nil
	})
	return u
}

// words are what netdyno printed.
func (u *underway) words() string {
	text, err := os.ReadFile(u.said)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// until waits for what must come while netdyno runs.
func (u *underway) until(what string, came func() bool) {
	u.t.Helper()
	for deadline := time.Now().Add(hang); !came(); time.Sleep(poll) {
		if u.over() {
			u.t.Fatalf("wait until %s: netdyno ended: %v", what, u.cmd.ProcessState)
		}
		if time.Now().After(deadline) {
			u.t.Fatalf("wait until %s: not after %v", what, hang)
		}
	}
}

func (u *underway) over() bool {
	select {
	case <-u.ended:
		return true
	default:
		return false
	}
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

// victim waits until workers are held in a state, all that come to it at once,
// and returns the one of a host, counted from 1.
func (u *underway) victim(state string, node int) process {
	u.t.Helper()
	workers := 3
	switch state {
	case "idle":
		workers = 1
	case "unconnected":
		workers = 2
	}
	var victim process
	u.until(fmt.Sprintf("%d workers are held in state %s, one at node%d", workers, state, node), func() bool {
		there := u.named("in-" + state)
		if i := slices.IndexFunc(there, func(p process) bool { return u.at(p, node) }); i >= 0 {
			victim = there[i]
		}
		return len(there) == workers && victim.pid != 0
	})
	return victim
}

// named returns the run's processes of a command name.
func (u *underway) named(name string) []process {
	u.t.Helper()
	return slices.DeleteFunc(processes(u.t, u.worker), func(p process) bool { return p.name != name })
}

// at tells whether a process is on the network of a host.
func (u *underway) at(p process, node int) bool {
	addresses, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/fib_trie", p.pid))
	return err == nil && strings.Contains(string(addresses), " "+u.address(node)+"\n")
}

// nodeOf returns the number of a process's host, and placeOf its name.
func (u *underway) nodeOf(p process) int {
	u.t.Helper()
	for node := range names {
		if u.at(p, node) {
			return node
		}
	}
	u.t.Fatalf("%v is at no place of rig %s", p, u.rig)
	return 0
}

func (u *underway) placeOf(p process) string { return fmt.Sprintf("node%d", u.nodeOf(p)) }

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
func (u *underway) parent(p process) int {
	u.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid))
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

// contents is what was kept so far. A last line may be half written.
func (u *underway) contents() record.Contents {
	u.t.Helper()
	contents, err := record.Read(filepath.Join(u.dir, record.RecordsFile))
	if err != nil {
		u.t.Fatal(err)
	}
	return contents
}

func (u *underway) records() []record.Record {
	u.t.Helper()
	return u.contents().Records
}

// next waits for the record of a number, from 0.
func (u *underway) next(number int) record.Record {
	u.t.Helper()
	var all []record.Record
	u.until(fmt.Sprintf("record %d is kept", number), func() bool {
		all = u.records()
		return len(all) > number
	})
	return all[number]
}

// interrupt ends the run as Ctrl-C does, and waits for its end.
func (u *underway) interrupt() {
	u.t.Helper()
	if err := u.cmd.Process.Signal(os.Interrupt); err != nil {
		u.t.Error(err)
	}
	u.end(hang)
	// 1, or 2 when none of the trials so far was valid, as on a busy machine.
	if code := u.cmd.ProcessState.ExitCode(); code != 1 && code != 2 || !strings.Contains(u.words(), "--continue goes on") {
		u.t.Errorf("the interrupted run exits with %d, want 1 or 2 and a word on how to go on", code)
	}
}

func (u *underway) end(timeout time.Duration) {
	u.t.Helper()
	select {
	case <-u.ended:
	case <-time.After(timeout):
		u.t.Fatalf("netdyno has not ended after %v", timeout)
	}
}
