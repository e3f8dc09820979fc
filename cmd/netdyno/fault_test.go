package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"netdyno/internal/contract"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/bench/benchtest"
	"netdyno/test/trials"
)

// point is a place in a worker's life where a fault can strike: a message's
// name, or one of those below.
type point string

const (
	atBirth point = "birth" // instead of hello
	atSetup point = "setup"
	atStart point = "start"
	atIdle  point = "idle"  // the mark of everything connected and silent
	atMark  point = "mark"  // the one that opens the window
	atClose point = "close" // the one that closes it
	atStop  point = "stop"
	atEnd   point = "end" // of stdin
)

// fault is one way to break the contract, and what the record must say of it.
type fault struct {
	name string
	role contract.Role
	at   point
	do   func(*pretender) bool // true when it took the answer's place

	readiness  func(*contract.Ready)  // or: what ready says
	connection func(net.Conn)         // or: how a server treats a connection
	lie        func(*contract.Result) // or: what the result says
	pace       float64                // or: how fast its clock runs; 0 is 1
	load       []string               // levels besides

	failure record.Failure // with a part of the text; of kind "" when the trial is carried through
	status  string         // what the reader makes of it; empty for that of a failure
	reason  string         // a part of the reader's reason
}

const (
	client = contract.Client
	server = contract.Server
	pair   = contract.Pair
)

func fails(kind contract.ErrorKind, worker, state, text string) record.Failure {
	return record.Failure{Kind: kind, Worker: worker, State: state, Text: text}
}

var faults = []fault{
	{name: "honest", role: pair, status: "valid"},
	{name: "honest-server", role: server, status: "valid"},

	{name: "hangs-at-birth", role: client, at: atBirth, do: hang, failure: fails(contract.Timeout, "client-1", "born", "no hello within")},
	{name: "hangs-at-setup", role: client, at: atSetup, do: hang, failure: fails(contract.Timeout, "client-1", "idle", "no ready within")},
	{name: "hangs-at-idle", role: client, at: atIdle, do: hang, failure: fails(contract.Timeout, "client-1", "ready", "no mark within")},
	{name: "dies-at-idle", role: client, at: atIdle, do: die, failure: fails(contract.Peer, "client-1", "ready", "the disk is on fire")},
	{name: "hangs-at-mark", role: client, at: atMark, do: hang, failure: fails(contract.Timeout, "client-1", "running", "no mark within")},
	{name: "hangs-at-close", role: client, at: atClose, do: hang, failure: fails(contract.Timeout, "client-1", "window", "no mark within")},
	{name: "hangs-at-stop", role: client, at: atStop, do: hang, failure: fails(contract.Timeout, "client-1", "window", "no result within")},
	{name: "server-hangs-at-setup", role: server, at: atSetup, do: hang, failure: fails(contract.Timeout, "server", "idle", "no ready within")},
	{name: "server-hangs-at-mark", role: server, at: atMark, do: hang, failure: fails(contract.Timeout, "server", "ready", "no mark within")},
	{name: "deaf-at-setup", role: client, at: atSetup, do: deafen, failure: fails(contract.Timeout, "client-1", "idle", "no ready within")},
	{name: "deaf-at-end", role: pair, at: atEnd, do: deafen, status: "valid"},

	{name: "dies-at-birth", role: client, at: atBirth, do: die, failure: fails(contract.Peer, "client-1", "born", "status 3); it said on stderr: the disk is on fire")},
	{name: "dies-at-setup", role: client, at: atSetup, do: die, failure: fails(contract.Peer, "client-1", "idle", "the disk is on fire")},
	{name: "dies-at-start", role: client, at: atStart, do: die, failure: fails(contract.Peer, "client-1", "running", "the disk is on fire")},
	{name: "dies-at-mark", role: client, at: atMark, do: die, failure: fails(contract.Peer, "client-1", "running", "the disk is on fire")},
	{name: "dies-at-close", role: client, at: atClose, do: die, failure: fails(contract.Peer, "client-1", "window", "the disk is on fire")},
	{name: "dies-at-stop", role: client, at: atStop, do: die, failure: fails(contract.Peer, "client-1", "window", "the disk is on fire")},
	{name: "server-dies-at-setup", role: server, at: atSetup, do: die, failure: fails(contract.Peer, "server", "idle", "the disk is on fire")},
	{name: "server-dies-at-mark", role: server, at: atMark, do: die, failure: fails(contract.Peer, "", "", "")}, // either end may tell of it first
	{name: "killed", role: client, at: atMark, do: crash, failure: fails(contract.Peer, "client-1", "running", "status 137")},
	{name: "quits", role: client, at: atSetup, do: quit, failure: fails(contract.Peer, "client-1", "idle", "status 0); it said on stderr: nothing")},
	{name: "quits-at-stop", role: client, at: atStop, do: quit, failure: fails(contract.Peer, "client-1", "window", "status 0")},

	{name: "chatters", role: client, at: atSetup, do: chatter, failure: fails(contract.Invalid, "client-1", "idle", "free text belongs on stderr")},
	{name: "chatters-at-birth", role: client, at: atBirth, do: chatter, failure: fails(contract.Invalid, "client-1", "born", "warming up the caches")},
	{name: "blares", role: client, at: atMark, do: blare, failure: fails(contract.Invalid, "client-1", "running", "longer than 1048576 bytes")},
	{name: "floods", role: pair, at: atStart, do: flood, failure: fails(contract.Invalid, "client-1", "running", "floods")},
	{name: "marks-wrong-id", role: client, at: atMark, do: func(p *pretender) bool {
		p.say(contract.Message{Mark: &contract.Mark{ID: 77, Reset: true, Reading: p.reading()}})
		return true
	}, failure: fails(contract.Invalid, "client-1", "running", "without its id")},
	{name: "marks-without-reading", role: client, at: atMark, do: func(p *pretender) bool {
		p.say(contract.Message{Mark: &contract.Mark{ID: 1, Reset: true}})
		return true
	}, failure: fails(contract.Invalid, "client-1", "running", "without its id or reading")},
	{name: "answers-out-of-turn", role: client, at: atSetup, do: func(p *pretender) bool {
		p.say(contract.Message{Mark: &contract.Mark{ID: 1, Reset: true, Reading: p.reading()}})
		return true
	}, failure: fails(contract.Invalid, "client-1", "idle", "answered with mark, expected ready")},
	{name: "commands-the-bench", role: client, at: atSetup, do: func(p *pretender) bool {
		p.say(contract.Message{Stop: &contract.Stop{}})
		return true
	}, failure: fails(contract.Invalid, "client-1", "idle", "stop does not come from a worker")},
	{name: "refuses", role: client, at: atSetup, do: func(p *pretender) bool {
		p.say(contract.Message{Error: &contract.Error{Kind: contract.Unsupported, Text: "not on a Tuesday", Fatal: true}})
		return true
	}, failure: fails(contract.Unsupported, "client-1", "idle", "not on a Tuesday"), status: "unsupported"},

	{name: "listens-nowhere", role: server, readiness: func(r *contract.Ready) { r.Addresses = []string{"127.0.0.1:1"} },
		failure: fails(contract.Peer, "client-1", "idle", "127.0.0.1:1")},
	{name: "listens-elsewhere", role: server, readiness: func(r *contract.Ready) { r.Addresses = []string{"192.0.2.1:53"} },
		failure: fails(contract.Invalid, "server", "idle", "says it listens on 192.0.2.1:53, but it was to bind 127.0.0.1")},
	{name: "listens-elsewhere-and-says-so", role: server, readiness: func(r *contract.Ready) { r.Addresses, r.Elsewhere = []string{"192.0.2.1:53"}, true },
		failure: fails(contract.Invalid, "server", "idle", "but it was to bind 127.0.0.1")},
	{name: "listens-on-no-port", role: server, readiness: func(r *contract.Ready) { r.Addresses = []string{"127.0.0.1:0"} },
		failure: fails(contract.Invalid, "server", "idle", "expected a port from 1 to 65535")},
	{name: "hides-its-address", role: server, readiness: func(r *contract.Ready) { r.Addresses = nil },
		failure: fails(contract.Invalid, "server", "idle", "no address")},
	{name: "closes-connections", role: server, connection: func(c net.Conn) { _ = c.Close() },
		failure: fails(contract.Peer, "client-1", "idle", "")},
	{name: "never-echoes", role: server, connection: func(net.Conn) {},
		failure: fails(contract.Timeout, "client-1", "idle", "no ready within")},
	{name: "echoes-garbage", role: server, connection: garble,
		failure: fails(contract.Invalid, "client-1", "idle", "other content")},

	{name: "speaks-contract-99", role: client, at: atBirth, do: func(p *pretender) bool {
		p.greet(99)
		return true
	}, failure: fails(contract.Invalid, "client-1", "born", "speaks contract 99, this netdyno speaks 1")},
	{name: "unfinished-below-zero", role: pair, lie: func(r *contract.Result) { r.Unfinished = -3 },
		failure: fails(contract.Invalid, "client-1", "window", "result.unfinished is -3, expected 0 or more")},
	{name: "lies-about-exchanges", role: client, status: "invalid", reason: "the server received"},
	{name: "lies-about-bytes", role: pair, lie: func(r *contract.Result) { r.Counts.ReceivedBytes *= 2 }, status: "invalid", reason: "exchanges of"},
	{name: "lies-about-times", role: pair, lie: func(r *contract.Result) { r.Drained = 900 }, status: "invalid", reason: "service times were recorded"},
	{name: "lies-about-verifying", role: client, readiness: func(r *contract.Ready) { r.Verified = 0 }, status: "invalid", reason: "verified 0"},
	{name: "did-nothing", role: pair, lie: func(r *contract.Result) { r.Counts = contract.Counts{} }, status: "invalid", reason: "made no exchange"},
	{name: "counts-no-window", role: pair, lie: func(r *contract.Result) { r.ToNs = r.FromNs }, status: "invalid", reason: "a window of 0 ns"},
	{name: "halves-its-window", role: pair, lie: func(r *contract.Result) { r.ToNs = (r.FromNs + r.ToNs) / 2 }, status: "invalid", reason: "by the result's clock, but 400 ms was declared", load: longer},
	{name: "has-a-slow-clock", role: pair, pace: 0.5, status: "invalid", reason: "the window of client-1 lasted", load: longer},
	{name: "server-has-a-slow-clock", role: server, pace: 0.5, status: "invalid", reason: "the window of server lasted", load: longer},
	{name: "completes-more-than-was-due", role: pair, status: "invalid", reason: "completed 100 exchanges in its window, but at most", load: append([]string{"rate=100"}, longer...)},
	{name: "sends-no-histogram", role: pair, lie: func(r *contract.Result) { r.Service = "bm90IGEgaGlzdG9ncmFt" }, status: "invalid", reason: "cannot be read"},
}

// longer is a window of which a half is more than a crowded machine is late by.
var longer = []string{"window=400ms", "warmup=50ms"}

// garble answers as many bytes as came, but others.
func garble(c net.Conn) {
	b := make([]byte, 4096)
	for {
		n, err := c.Read(b)
		if err != nil {
			return
		}
		for i := range n {
			b[i] ^= 0xff
		}
		if _, err := c.Write(b[:n]); err != nil {
			return
		}
	}
}

// levels of the fault's trial: a worker that only pretends has an honest
// other end.
func (f fault) levels() []string {
	ends := map[contract.Role][]string{
		client: {"server=go-net", "client=" + f.name}, server: {"server=" + f.name, "client=go-net"}, pair: {"transport=" + f.name},
	}
	levels := append(ends[f.role], "connections=4", "blocks=1")
	switch {
	case len(f.load) > 0:
		return append(levels, f.load...)
	case f.role == server:
		// The books of a real client close to the byte over a fixed amount
		// only: a window's edges blur on a busy machine.
		return append(levels, "amount=500")
	}
	return append(levels, "window=200ms", "warmup=50ms")
}

// workersAndPretenders finds the real workers and the pretenders.
func workersAndPretenders(t *testing.T) *bench.Catalog {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	for _, f := range faults {
		if err := os.Symlink(self, filepath.Join(directory, faultyPrefix+f.name)); err != nil {
			t.Fatal(err)
		}
	}
	catalog := bench.Discover(t.Context(), []string{installed(t), directory})
	if len(catalog.Absent) > 0 {
		t.Fatalf("workers without a hello: %v", catalog.Absent)
	}
	return &catalog
}

// benchOf returns a bench whose processes are members of the family.
func benchOf(t *testing.T, mine family, catalog *bench.Catalog) *bench.Bench {
	t.Helper()
	b := benchtest.In(installed(t), catalog)
	b.Hosts = mine.hosts()
	return b
}

// conduct runs the first trial of a study and reads its record.
func conduct(t *testing.T, b *bench.Bench, levels []string) (record.Record, trial.Trial) {
	t.Helper()
	header, trials := benchtest.Plan(t, levels...)
	records := benchtest.Conduct(t.Context(), t, b, trials[:1])
	found, err := finding.Find(header, trials[:1], records)
	if err != nil {
		t.Fatal(err)
	}
	return records[0], found.Cells[0].Arms[0].Trials[0]
}

// timeouts are long for a busy machine, and short only where the fault is to say
// nothing.
func (f fault) timeouts() bench.Timeouts {
	const long, short = 30 * time.Second, 3 * time.Second
	t := bench.Timeouts{Setup: long, Hello: long, Answer: long}
	if f.failure.Kind != contract.Timeout {
		return t
	}
	switch f.failure.State {
	case "born":
		t.Hello = short
	case "idle":
		t.Setup = short
	default:
		t.Answer = short
	}
	return t
}

// finished holds for a run that measured all it was to measure. A machine that was too
// busy for a trial makes it invalid, which leaves a record like any.
func finished(code int, said string) bool {
	return code == statusOK || code == statusUnmet && strings.Contains(said, "invalid") && !lacking.MatchString(said)
}

// lacking are trials that are no machine's fault, as a report counts them.
var lacking = regexp.MustCompile(`\b[1-9]\d* (failed|missing)\b`)

// Whatever a worker does, its trial leaves a record that says so, nothing
// hangs, and nobody stays behind.
func TestEveryFaultLeavesItsRecord(t *testing.T) {
	t.Parallel()
	catalog := workersAndPretenders(t)
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			mine := newFamily(t)
			b := benchOf(t, mine, catalog)
			b.Timeouts = f.timeouts()
			var r record.Record
			var seen trial.Trial
			trials.Repeat(func() bool {
				r, seen = conduct(t, b, f.levels())
				return trials.Disturbed(seen.Reason) && (f.reason == "" || !strings.Contains(seen.Reason, f.reason))
			})
			mine.mustEnd(t)
			f.check(t, r, seen)
		})
	}
}

// On one bench an honest trial runs after failed ones, and no goroutine is left.
func TestABenchOutlivesFaults(t *testing.T) {
	b := benchOf(t, newFamily(t), workersAndPretenders(t))
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, name := range []string{"hangs-at-setup", "dies-at-mark", "blares", "floods", "never-echoes", "deaf-at-end"} {
		i := slices.IndexFunc(faults, func(f fault) bool { return f.name == name })
		b.Timeouts = faults[i].timeouts()
		conduct(t, b, faults[i].levels())
	}
	b.Timeouts = bench.Timeouts{}
	var seen trial.Trial
	trials.Repeat(func() bool {
		_, seen = conduct(t, b, []string{"transport=go-net", "connections=4", "amount=500", "blocks=1"})
		return trials.Disturbed(seen.Reason)
	})
	if seen.Status != trial.Valid {
		t.Errorf("an honest trial after them is %s: %s", seen.Status, seen.Reason)
	}
}

func (f fault) check(t *testing.T, r record.Record, seen trial.Trial) {
	t.Helper()
	want := f.status
	if want == "" {
		want = "failed"
	}
	if seen.Status != want || !strings.Contains(seen.Reason, f.reason) {
		t.Errorf("is %s (%s), want %s (%s)", seen.Status, seen.Reason, want, f.reason)
	}
	if f.failure.Kind == "" {
		if r.Failure != nil {
			t.Errorf("failed: %+v", *r.Failure)
		}
		return
	}
	if r.Failure == nil {
		t.Fatal("the record names no failure")
	}
	got := *r.Failure
	if f.failure.Worker == "" {
		got.Worker, got.State = "", ""
	}
	if got.Kind != f.failure.Kind || got.Worker != f.failure.Worker || got.State != f.failure.State || !strings.Contains(got.Text, f.failure.Text) {
		t.Errorf("failure %+v\nwant    %+v", got, f.failure)
	}
	if !slices.ContainsFunc(r.Workers, func(w record.Worker) bool { return w.Exit != nil }) {
		t.Error(fmt.Sprint("no worker's end is known: ", len(r.Workers), " workers"))
	}
}
