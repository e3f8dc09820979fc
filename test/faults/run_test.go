package faults_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

const (
	// hang is longer than anything may take whose time limits work, on a machine that
	// has much else to do.
	hang = 2 * time.Minute
	poll = 20 * time.Millisecond
)

// run is one netdyno and what it has written. The test's goroutine owns it.
type run struct {
	*bed
	t     *testing.T
	args  []string
	cmd   *exec.Cmd
	dir   string // of its results
	said  *bytes.Buffer
	ended chan struct{}
}

// start starts a run.
func (b *bed) start(t *testing.T, args ...string) *run {
	t.Helper()
	r := &run{bed: b, t: t, args: args}
	r.cmd, r.dir = b.command(args...)
	r.launch()
	return r
}

// resume starts it again to go on.
func (r *run) resume() {
	r.t.Helper()
	r.cmd, _ = r.command(append(r.args, "--resume")...)
	r.launch()
}

func (r *run) launch() {
	r.t.Helper()
	r.said, r.ended = &bytes.Buffer{}, make(chan struct{})
	r.cmd.Stdout, r.cmd.Stderr = r.said, r.said
	r.cmd.WaitDelay = hang
	if err := r.cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	cmd, ended := r.cmd, r.ended
	go func() {
		_ = cmd.Wait() // how it ended is in its state
		close(ended)
	}()
	r.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it has ended as a rule
		<-ended
	})
}

// until waits for what must come while netdyno runs.
func (r *run) until(t *testing.T, what string, came func() bool) {
	t.Helper()
	for deadline := time.Now().Add(hang); !came(); time.Sleep(poll) {
		select {
		case <-r.ended:
			t.Fatalf("wait until %s: netdyno ended: %v\n%s", what, r.cmd.ProcessState, r.said)
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("wait until %s: not after %v", what, hang)
		}
	}
}

// end waits until netdyno has ended by itself, and checks its status.
func (r *run) end(t *testing.T, statuses ...int) {
	t.Helper()
	select {
	case <-r.ended:
	case <-time.After(hang):
		t.Fatalf("netdyno has not ended after %v", hang)
	}
	code := r.cmd.ProcessState.ExitCode()
	for _, want := range statuses {
		if code == want {
			return
		}
	}
	t.Errorf("netdyno ended with %d, want one of %v; it said:\n%s", code, statuses, r.said)
}

// saying demands a part in what an ended netdyno has printed.
func (r *run) saying(t *testing.T, part string) {
	t.Helper()
	if !strings.Contains(r.said.String(), part) {
		t.Errorf("netdyno says\n%s\nwant in it %q", r.said, part)
	}
}

// contents is what was kept so far; nothing before there is a file.
func (r *run) contents(t *testing.T) record.Contents {
	t.Helper()
	contents, err := record.Read(filepath.Join(r.dir, record.RecordsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) && r.over() {
		t.Fatal(err)
	}
	return contents
}

func (r *run) over() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// next waits for the record of a number, from 0.
func (r *run) next(t *testing.T, number int) record.Record {
	t.Helper()
	var all []record.Record
	came := func() bool {
		all = r.contents(t).Records
		return len(all) > number
	}
	for deadline := time.Now().Add(hang); !came(); time.Sleep(poll) {
		if r.over() && !came() {
			t.Fatalf("record %d was not kept; netdyno ended: %v\n%s", number, r.cmd.ProcessState, r.said)
		}
		if time.Now().After(deadline) {
			t.Fatalf("record %d was not kept after %v", number, hang)
		}
	}
	return all[number]
}

// failed demands that a trial failed of a worker, for a reason.
func failed(t *testing.T, r record.Record, worker string, says ...string) {
	t.Helper()
	if r.Outcome != record.Failed || r.Failure == nil {
		t.Fatalf("trial %s is %s, want it failed", r.Trial.ID, r.Outcome)
	}
	t.Logf("%s: %+v", r.Trial.ID, *r.Failure)
	if r.Failure.Worker != worker {
		t.Errorf("trial %s failed of %q, want %q: %s", r.Trial.ID, r.Failure.Worker, worker, r.Failure.Text)
	}
	for _, part := range says {
		if !strings.Contains(r.Failure.Text, part) {
			t.Errorf("the record of %s says %q, want in it %q", r.Trial.ID, r.Failure.Text, part)
		}
	}
}

// whole demands exactly one record of every planned trial and no valid one, of a
// run all of whose trials were disturbed.
func (r *run) whole(t *testing.T) {
	t.Helper()
	contents := r.contents(t)
	for _, problem := range contents.Problems {
		t.Errorf("records: %v", problem)
	}
	planned, err := record.ReadTrials(filepath.Join(r.dir, record.TrialsFile))
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]int{}
	for _, one := range contents.Records {
		kept[one.Trial.ID]++
	}
	for _, p := range planned {
		if kept[p.ID] != 1 {
			t.Errorf("trial %s has %d records, want one", p.ID, kept[p.ID])
		}
	}
	if len(contents.Records) != len(planned) {
		t.Errorf("%d records of %d planned trials", len(contents.Records), len(planned))
	}
	found, err := finding.Find(contents.Header, planned, contents.Records)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range found.Cells {
		for _, arm := range cell.Arms {
			for _, one := range arm.Trials {
				if one.Status == trial.Valid {
					t.Errorf("trial %s passes for valid", one.ID)
				}
			}
		}
	}
	for _, file := range []string{"report.html", "report.md", "findings.json"} {
		if _, err := os.Stat(filepath.Join(r.dir, file)); err != nil {
			t.Error(err)
		}
	}
}

// nothingLeft demands that all of the bed's processes and temporary files are gone.
func (b *bed) nothingLeft(t *testing.T) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(hang); time.Now().Before(deadline); time.Sleep(poll) {
		left = nil
		for _, p := range b.processes(t) {
			left = append(left, p.String())
		}
		files, err := os.ReadDir(b.temp)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			left = append(left, filepath.Join(b.temp, f.Name()))
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("after %v there are still %q", hang, left)
}

// process is one of the machine's processes.
type process struct {
	pid  int
	argv []string
}

func (p process) String() string { return fmt.Sprintf("%d %s", p.pid, strings.Join(p.argv, " ")) }

// processes returns those of the bed: its name is in every command line.
func (b *bed) processes(t *testing.T) []process {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	var found []process
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // no process
		}
		line, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		if err != nil || !bytes.Contains(line, []byte(b.name)) {
			continue // it has just ended, or is another's
		}
		found = append(found, process{pid, strings.Split(string(bytes.TrimSuffix(line, []byte{0})), "\x00")})
	}
	return found
}

// program returns the path of what a process runs: of a worker that is a script or an
// archive, that, whose interpreter comes first.
func (p process) program(b *bed) string {
	if filepath.Base(p.argv[0]) != "netdyno" { // whose meter names the worker, too
		for _, arg := range p.argv {
			if strings.HasPrefix(filepath.Base(arg), filepath.Base(b.program(""))) {
				return arg
			}
		}
	}
	return p.argv[0]
}

// roleOf returns the role that a process may have, "server" or "client", or nothing:
// of a foreign server the program itself is the server.
func (b *bed) roleOf(p process) string {
	base := filepath.Base(p.program(b))
	switch {
	case b.foreign() && len(p.argv) > 1 && p.argv[1] == "fake":
		return "server"
	case !strings.HasPrefix(base, filepath.Base(b.program(""))):
		return ""
	case len(b.workers) > 1 && base == filepath.Base(b.program(b.workers[0])):
		if b.foreign() {
			return "" // what started the server
		}
		return "server"
	case len(b.workers) > 1:
		return "client"
	case port(p.pid, listens, local) != "":
		return "server"
	}
	return "client"
}

// The states of a socket and its columns, as /proc/net/tcp writes them.
const (
	listens     = "0A"
	established = "01"
	local       = 1
	remote      = 2
)

// unconnected is the state of a UDP socket that takes datagrams of anybody, as a
// server's does.
const unconnected = "07"

// port returns the port, local or remote, of a socket in a state that a process holds;
// empty when it holds none. A UDP socket listens when it is not connected.
func port(pid int, state string, column int) string {
	held := map[string]bool{}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return "" // it has ended
	}
	for _, fd := range fds {
		target, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd.Name()))
		if err != nil {
			continue // it was closed meanwhile
		}
		if inode, found := strings.CutPrefix(target, "socket:["); found {
			held[strings.TrimSuffix(inode, "]")] = true
		}
	}
	for _, file := range []string{"tcp", "tcp6", "udp", "udp6"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, file))
		if err != nil {
			continue
		}
		wanted := state
		if state == listens && strings.HasPrefix(file, "udp") {
			wanted = unconnected
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) < 10 || fields[3] != wanted || !held[fields[9]] {
				continue
			}
			if number := fields[column][strings.LastIndexByte(fields[column], ':')+1:]; number != "0000" {
				return number
			}
		}
	}
	return ""
}

// underLoad waits until a trial's client works: it is connected to the trial's
// server and has used CPU time since, more than connecting takes.
func (r *run) underLoad(t *testing.T) (server, client int) {
	t.Helper()
	r.until(t, "a client is connected to a server", func() bool {
		at := ""
		for _, p := range r.processes(t) {
			if r.roleOf(p) == "server" {
				server, at = p.pid, port(p.pid, listens, local)
			}
		}
		for _, p := range r.processes(t) {
			if at != "" && r.roleOf(p) == "client" && p.pid != server && port(p.pid, established, remote) == at {
				client = p.pid
				return true
			}
		}
		return false
	})
	before := ticks(client)
	const working = 3 // hundredths of a second: a client that waits for its start takes none
	r.until(t, "the client works", func() bool { return ticks(client) >= before+working })
	return server, client
}

// ticks returns the CPU time of a process in hundredths of a second; 0 when it has
// ended.
func ticks(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11]) // the kernel writes numbers
	system, _ := strconv.Atoi(fields[12])
	return user + system
}

func signal(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Errorf("send %v to %d: %v", s, pid, err)
	}
}
