package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/test/synthetic"
)

func TestFoundSoFar(t *testing.T) {
	for _, c := range []struct {
		name    string
		options synthetic.Options
		want    string
	}{
		{"two arms", synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 0.5}}, Connections: []int{10}},
			`^so far: b with \d+ % less server CPU than a \(\d+–\d+ %\)`},
		{"the largest of several", synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 0.9}, {Name: "c", Cost: 0.3}}, Connections: []int{10}}, `^so far: c with `},
		{"nothing told", synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}, {Name: "b"}}, Connections: []int{10}}, `^undecided so far$`},
		{"one arm", synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}}, Connections: []int{10}, Primary: []string{"exchanges_per_s"}},
			`^so far: a at 10 connections rate [\d.]+ \([\d.]+–[\d.]+\) k/s$`},
		{"one block", synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}, {Name: "b"}}, Blocks: 1}, `^(undecided so far)?$`},
	} {
		c.options.SD, c.options.Bare = 0.02, true
		f, err := finding.Find(synthetic.Run(c.options))
		if err != nil {
			t.Fatal(err)
		}
		if got := foundSoFar(f); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s: %q, want %s", c.name, got, c.want)
		}
	}
}

// Under what runs stands who leads, and both lines fit.
func TestProgressShowsWhatIsFound(t *testing.T) {
	for _, width := range []uint16{40, 120} {
		var out bytes.Buffer
		p := newProgress(drawnInto(&out, pseudoTerminal(t, width)), minutes(1), 20)
		p.tell("so far: go-grpc, 42 % less server CPU than go-http1 (35–48 %)")
		p.observe(bench.Event{Trial: record.Trial{ID: "b04-001", Block: 4, Arm: "go-grpc"}, Of: 60, Index: 9})
		lines := strings.Split(strings.TrimPrefix(out.String(), clearLine), "\r\n")
		if len(lines) != 2 || !strings.HasPrefix(lines[0], "block 4 of 20 · go-grpc") || !strings.HasPrefix(p.found, strings.TrimRight(lines[1], " …~")) || len([]rune(lines[1])) >= int(width) {
			t.Errorf("width %d: %q", width, lines)
		}
		if width == 120 && !strings.HasSuffix(lines[0], "1m0s left") {
			t.Errorf("drawn %q", lines[0])
		}
	}
}

// Where there is no terminal, what is found has a line when it changes.
func TestPlainLinesOfWhatIsFound(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = r.Close(), w.Close() }() // a pipe
	var out bytes.Buffer
	p := newProgress(drawnInto(&out, w), minutes(1), 20)
	for _, found := range []string{"undecided so far", "undecided so far", "so far: asio"} {
		p.tell(found)
	}
	if got := out.String(); got != "undecided so far\nso far: asio\n" {
		t.Errorf("printed %q", got)
	}
}

func TestBlocksAreCountedAsTheirLastTrialEnds(t *testing.T) {
	trials := []record.Trial{{Block: 1}, {Block: 1}, {Block: 2}, {Block: 9, Probe: true}}
	c := countBlocks(trials)
	if c.last() != 2 {
		t.Errorf("the last block is %d, want 2", c.last())
	}
	for i, want := range []bool{false, true, true, false} {
		if got := c.completes(bench.Event{Trial: trials[i], Record: &record.Record{}}); got != want {
			t.Errorf("trial %d completes a block: %v, want %v", i, got, want)
		}
	}
	if c.completes(bench.Event{Trial: trials[0]}) {
		t.Error("an event without a record completes a block")
	}
}
