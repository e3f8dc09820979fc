package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/printable"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/session"
	"netdyno/internal/run/study"
)

// pseudoTerminal opens a terminal of the given width, 0 for one without a size.
func pseudoTerminal(t *testing.T, width uint16) *os.File {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = master.Close() })
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: width, Row: 24}); err != nil {
		t.Fatal(err)
	}
	return master
}

// drawnInto is the screen that f is, whose characters go to out.
func drawnInto(out *bytes.Buffer, f *os.File) *screen {
	s := newScreen(f)
	s.Writer, s.raw = printable.NewWriter(out), out
	return s
}

// minutes is the clock of a run of one trial that takes so many minutes.
func minutes(n int) *session.Clock {
	return session.NewClock([]record.Trial{{ID: "one"}}, nil, func([]record.Trial) study.Estimate {
		return study.Estimate{Total: time.Duration(n) * time.Minute}
	})
}

func events() []bench.Event {
	trial := record.Trial{ID: "b01-001", Block: 1, Arm: "an-arm-with-a-long-name", Cell: "connections=10000 rate=20k/s"}
	tick := func(at, n int64) bench.Event { return bench.Event{Tick: &contract.Tick{AtNs: at, Exchanges: n}} }
	died := record.Record{Trial: trial, Outcome: record.Failed, Failure: &record.Failure{
		Kind: contract.Peer, Text: "it died", Worker: "server", State: "window",
	}}
	return []bench.Event{
		{Trial: trial, Of: 2}, tick(1e9, 1000), tick(2e9, 21000),
		{Trial: trial, Of: 2, Record: &record.Record{Trial: trial, Outcome: record.OK}},
		{Trial: trial, Of: 2, Index: 1},
		{Trial: trial, Of: 2, Index: 1, Record: &died},
	}
}

func TestProgressFitsAnyTerminal(t *testing.T) {
	for _, width := range []uint16{0, 1, 19, 20, 40, 80, 300} {
		var out bytes.Buffer
		p := newProgress(drawnInto(&out, pseudoTerminal(t, width)), minutes(1), 20)
		for _, e := range events() {
			p.drawn = time.Time{} // as if half a second had passed
			p.observe(e)
		}
		p.finish()
		if !p.out.terminal || !strings.Contains(out.String(), "block 1") {
			t.Fatalf("width %d: drew %q", width, out.String())
		}
		if width >= 80 && !strings.Contains(out.String(), "20.0 k/s") {
			t.Errorf("width %d: the rate is not shown: %q", width, out.String())
		}
		for line := range strings.SplitSeq(out.String(), "\r") {
			drawn, failed := strings.TrimPrefix(line, "\x1b[J"), strings.Contains(line, "it died")
			if n := len([]rune(drawn)); !failed && width >= leastWidth && n >= int(width) {
				t.Errorf("width %d: a line of %d columns would wrap: %q", width, n, drawn)
			}
		}
	}
}

func TestProgressIsPlainLinesElsewhere(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }() // a pipe
	var out bytes.Buffer
	p := newProgress(drawnInto(&out, w), minutes(1), 20)
	for _, e := range events() {
		p.observe(e)
	}
	p.finish()
	_ = w.Close() // a pipe
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 || strings.Contains(out.String(), "\x1b") || !strings.Contains(lines[1], "failed (peer): server in state window: it died") {
		t.Errorf("printed %q, want one plain line for each trial", out.String())
	}
}

// A trial that is made again says why in one line, and the requests of the attempt before it
// stay counted.
func TestProgressOfATrialThatIsMadeAgain(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }() // a pipe
	var out bytes.Buffer
	p := newProgress(drawnInto(&out, w), minutes(1), 20)
	for _, e := range append(events()[:3], bench.Event{Of: 2, Again: "client-1 and its meter did not run for 40.0 ms"}) {
		p.observe(e)
	}
	if got := p.answered().exchanges; got != 21000 || out.String() != "again: client-1 and its meter did not run for 40.0 ms\n" {
		t.Errorf("%d exchanges, printed %q", got, out.String())
	}
}

// A run that ends itself by a time has no more than that left, however many trials are planned.
func TestProgressOfARunThatEndsByATime(t *testing.T) {
	p := newProgress(drawnInto(&bytes.Buffer{}, os.Stderr), minutes(60), 20)
	if got := p.left(); got != "1h0m0s left" {
		t.Errorf("without a bound %q", got)
	}
	p.bound = 4 * time.Minute
	if got := p.left(); got != "4m0s left" {
		t.Errorf("bounded by four minutes: %q", got)
	}
}
