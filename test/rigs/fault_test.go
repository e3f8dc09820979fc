package rigs_test

import (
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netdyno/test/lab"

	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// endless is a study of more short trials than a test has faults. Nothing in it
// is compared.
var endless = []string{"transport=go-net", "connections=4", "clients=2", "think=2ms", "blocks=100", "window=50ms", "warmup=10ms", "placement=free"}

// moment is when in a trial something goes wrong: where all workers are held that
// come there, and the hosts of those.
type moment struct {
	state string
	nodes []int
}

// moments are all, in the order of a trial. Servers listen before clients
// connect; clients may have sent their result before they are asked to stop.
var moments = []moment{
	{"born", []int{1, 2, 3}}, {"idle", []int{1}}, {"unconnected", []int{2, 3}}, {"ready", []int{1, 2, 3}},
	{"running", []int{1, 2, 3}}, {"window", []int{1, 2, 3}}, {"stopping", []int{1}},
}

// recorded is a moment's state in the words of a record. While clients run, a
// server is ready; who is asked to stop is in the window until it has answered.
func recorded(state string, node int) string {
	switch {
	case state == "unconnected":
		return "idle"
	case state == "running" && node == 1:
		return "ready"
	case state == "stopping":
		return "window"
	}
	return state
}

// names are of the worker that sits at a host.
var names = map[int]string{1: "server", 2: "client-1", 3: "client-2"}

// fault is one thing that goes wrong in one state of a trial.
type fault struct {
	name  string
	state string // where the workers are held meanwhile
	node  int    // whose it is
	// silent is one that only a deadline can tell of; the others must go on then, or
	// they would miss theirs.
	silent bool
	hurt   func(u *underway, victim lab.Process)
	mend   func() // after the trial has failed; nil for nothing to do
	says   []string
}

func (f fault) String() string {
	return fmt.Sprintf("%s at node%d in state %s", f.name, f.node, f.state)
}

// The faults that every rig knows.
var (
	killedWorker = fault{name: "a killed worker", says: []string{"the worker ended (status 137, SIGKILL)"},
		hurt: func(u *underway, victim lab.Process) { u.kill(victim.Pid) }}
	killedMeter = fault{name: "a killed meter", says: []string{"before the meter said"},
		hurt: func(u *underway, victim lab.Process) { u.kill(u.parent(victim)) }}
)

// in is the fault at one moment.
func (f fault) in(state string, node int) fault {
	f.state, f.node = state, node
	return f
}

// always makes a fault for every moment, at the hosts in turn.
func always(f fault) []fault {
	var all []fault
	for i, m := range moments {
		all = append(all, f.in(m.state, m.nodes[i%len(m.nodes)]))
	}
	return all
}

// suffer hurts one trial after the other of one run: each must fail by name, and
// the one that follows must not.
func suffer(t *testing.T, b bed, faults []fault) {
	t.Helper()
	before := b.census(t)
	u := b.start(t, endless...)
	for _, f := range faults {
		u.suffer(f)
	}
	u.interrupt()
	before.nothingLeft(t)
}

func (u *underway) suffer(f fault) {
	u.t.Helper()
	victim, number := u.held(f.state, f.node)
	f.hurt(u, victim)
	if f.silent {
		u.release()
	}
	r := u.Next(u.t, number)
	u.release()
	if f.mend != nil {
		f.mend()
	}
	if r.Outcome != record.Failed || r.Failure == nil {
		u.t.Errorf("%v: trial %s is %s, want it failed", f, r.Trial.ID, r.Outcome)
		return
	}
	u.t.Logf("%v: %+v; it took %.1f s", f, *r.Failure, float64(r.Timeline.EndNs)/1e9)
	if r.Failure.Worker != names[f.node] || r.Failure.State != recorded(f.state, f.node) {
		u.t.Errorf("%v: trial %s failed of %s in state %s", f, r.Trial.ID, r.Failure.Worker, r.Failure.State)
	}
	for _, part := range slices.Concat(f.says, []string{fmt.Sprintf("node%d", f.node)}) {
		if !strings.Contains(r.Failure.Text, part) {
			u.t.Errorf("%v: the record says %q, want in it %q", f, r.Failure.Text, part)
		}
	}
	if r := u.Next(u.t, number+1); r.Outcome != record.OK {
		u.t.Errorf("%v: the trial after it is %s: %+v", f, r.Outcome, r.Failure)
	}
}

func TestNamespaceFaults(t *testing.T) {
	t.Parallel()
	suffer(t, netnsBed(t, held), slices.Concat(few(always(killedWorker), 0, 5), few(always(killedMeter), 4)))
}

// Where what commands the workers does not cross the link, a cut one does not end
// a trial, and what it measured must not pass for a figure.
func TestCutBetweenNamespaces(t *testing.T) {
	t.Parallel()
	b := netnsBed(t, held)
	before := b.census(t)
	u := b.start(t, append(endless[:5:5], "window=300ms", "warmup=10ms", "placement=free")...)
	victim, number := u.held("running", 1)
	down := exec.Command("nsenter", "--net", "--target", strconv.Itoa(victim.Pid), "--", "ip", "link", "set", "nd0", "down")
	if out, err := down.CombinedOutput(); err != nil {
		t.Fatalf("take the server's link down: %v: %s", err, out)
	}
	u.release()
	cut := u.Next(u.t, number)
	judged := judged(t, u.Contents(u.t))[cut.Trial.ID]
	if judged.Status == trial.Valid && !slices.Contains(judged.Flags, trial.Unfinished) || judged.Reason == "" {
		t.Errorf("the trial with its link cut is %s: %q, want it to say that nothing was answered", judged.Status, judged.Reason)
	} else {
		t.Logf("the trial with its link cut is %s: %s", judged.Status, judged.Reason)
	}
	if r := u.Next(u.t, number+1); r.Outcome != record.OK {
		t.Errorf("the trial after it is %s: %+v", r.Outcome, r.Failure)
	}
	u.interrupt()
	before.nothingLeft(t)
}
