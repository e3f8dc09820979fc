package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/synthetic"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
)

func TestFoundSoFar(t *testing.T) {
	for _, c := range []struct {
		name    string
		options synthetic.Options
		want    string
	}{
		{"two arms", synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 0.5}}, Connections: []int{10}},
			`^b ÷ a server CPU 0\.\d+× \(0\.\d+–0\.\d+\) at 10 connections$`},
		{"the largest of several", synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 0.9}, {Name: "c", Cost: 0.3}}, Connections: []int{10}}, `^c ÷ a `},
		{"one arm", synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}}, Connections: []int{10}, Primary: []string{"exchanges_per_s"}},
			`^a at 10 connections rate [\d.]+ \([\d.]+–[\d.]+\) k/s$`},
		{"one block", synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}, {Name: "b"}}, Blocks: 1}, `^$`},
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

// Once something is found, the line says it in place of the trial, and fits.
func TestProgressShowsWhatIsFound(t *testing.T) {
	for _, width := range []uint16{40, 120} {
		var out bytes.Buffer
		p := newProgress(drawnInto(&out, pseudoTerminal(t, width)), time.Minute)
		p.found, p.blocks = "go-grpc ÷ go-http1 server CPU 1.71× (1.56–1.87)", 20
		p.observe(bench.Event{Trial: record.Trial{ID: "b04-001", Block: 4}, Of: 60, Index: 9})
		drawn := strings.TrimPrefix(out.String(), clearLine)
		if !strings.HasPrefix(drawn, "block 4/20 · ") || !strings.Contains(drawn, "left · go-") || len([]rune(drawn)) >= int(width) {
			t.Errorf("width %d: %q", width, drawn)
		}
		if width == 120 && !strings.HasSuffix(drawn, p.found) {
			t.Errorf("drawn %q", drawn)
		}
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
