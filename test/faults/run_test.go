package faults_test

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

	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/lab"
	"netdyno/test/running"
)

const (
	// hang is longer than anything may take whose time limits work, on a machine that
	// has much else to do.
	hang = 2 * time.Minute
)

// run is one netdyno of a bed.
type run struct {
	*bed
	*running.Run
	t    *testing.T
	args []string
}

// start starts a run.
func (b *bed) start(t *testing.T, args ...string) *run {
	t.Helper()
	c, dir := b.command(args...)
	return &run{b, running.Start(t, c, dir, hang), t, args}
}

// resume starts it again to go on.
func (r *run) resume() {
	r.t.Helper()
	c, dir := r.command(append(r.args, "--resume")...)
	r.Run = running.Start(r.t, c, dir, hang)
}

// end waits until netdyno has ended by itself, and checks its status.
func (r *run) end(t *testing.T, status int) {
	t.Helper()
	if code, said := r.End(t); code != status {
		t.Errorf("netdyno ended with %d, want %d; it said:\n%s", code, status, said)
	}
}

// saying demands a part in what an ended netdyno has printed.
func (r *run) saying(t *testing.T, part string) {
	t.Helper()
	if !strings.Contains(r.Said(), part) {
		t.Errorf("netdyno says\n%s\nwant in it %q", r.Said(), part)
	}
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
	contents := r.Contents(t)
	for _, problem := range contents.Problems {
		t.Errorf("records: %v", problem)
	}
	planned, err := record.ReadTrials(filepath.Join(r.Dir, record.TrialsFile))
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
		if _, err := os.Stat(filepath.Join(r.Dir, file)); err != nil {
			t.Error(err)
		}
	}
}

// nothingLeft demands that all of the bed's processes and temporary files are gone.
func (b *bed) nothingLeft(t *testing.T) {
	t.Helper()
	var left []string
	running.Await(t, hang, "nothing is left", func() bool {
		before := left
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
		if len(left) > 0 && !slices.Equal(left, before) {
			t.Logf("there are still %q", left)
		}
		return len(left) == 0
	})
}

// processes returns those of the bed: its name is in every command line.
func (b *bed) processes(t *testing.T) []lab.Process { return lab.Running(t, b.name) }

// programOf returns the path of what a process runs: of a worker that is a script or an
// archive, that, whose interpreter comes first.
func (b *bed) programOf(p lab.Process) string {
	if filepath.Base(p.Argv[0]) != "netdyno" { // whose meter names the worker, too
		for _, arg := range p.Argv {
			if strings.HasPrefix(filepath.Base(arg), filepath.Base(b.program(""))) {
				return arg
			}
		}
	}
	return p.Argv[0]
}

// roleOf returns the role that a process may have, "server" or "client", or nothing:
// of a foreign server the program itself is the server.
func (b *bed) roleOf(p lab.Process) string {
	base := filepath.Base(b.programOf(p))
	switch {
	case b.foreign() && len(p.Argv) > 1 && p.Argv[1] == "fake":
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
	case port(p.Pid, listens, local) != "":
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
	r.Until(t, "a client is connected to a server", func() bool {
		at := ""
		for _, p := range r.processes(t) {
			if r.roleOf(p) == "server" {
				server, at = p.Pid, port(p.Pid, listens, local)
			}
		}
		for _, p := range r.processes(t) {
			if at != "" && r.roleOf(p) == "client" && p.Pid != server && port(p.Pid, established, remote) == at {
				client = p.Pid
				return true
			}
		}
		return false
	})
	before := ticks(client)
	const working = 3 // hundredths of a second: a client that waits for its start takes none
	r.Until(t, "the client works", func() bool { return ticks(client) >= before+working })
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
