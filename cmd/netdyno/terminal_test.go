package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
)

// terminalOf is a terminal that wraps long lines, and wraps them anew when its width
// changes, as most terminals do. It knows the sequences that netdyno writes.
type terminalOf struct {
	t     *testing.T
	width int
	lines []string // as they were ended, not as they are wrapped
	at    int      // line of the cursor
	col   int      // and its column in that line, beyond the width where it is wrapped
}

func (e *terminalOf) rowsOf(line string) int {
	return max(1, (text.StringWidthWithoutEscSequences(line)+e.width-1)/e.width)
}

func (e *terminalOf) write(out string) {
	for len(out) > 0 {
		if rest, ok := strings.CutPrefix(out, "\x1b["); ok {
			end := strings.IndexAny(rest, "AJK")
			n := 1
			if end > 0 {
				if _, err := fmt.Sscan(rest[:end], &n); err != nil {
					e.t.Fatalf("sequence %q", rest[:end+1])
				}
			}
			switch rest[end] {
			case 'A':
				for range n {
					e.up()
				}
			case 'J':
				e.lines = e.lines[:e.at+1]
				e.lines[e.at] = text.Trim(e.lines[e.at], e.col)
			default:
				e.t.Fatalf("sequence %q is unknown", rest[:end+1])
			}
			out = rest[end+1:]
			continue
		}
		r := []rune(out)[0]
		out = out[len(string(r)):]
		switch r {
		case '\r':
			e.col -= e.col % e.width
		case '\n':
			if e.at++; e.at == len(e.lines) {
				e.lines = append(e.lines, "")
			}
			e.col = 0
		default:
			e.lines[e.at] = text.Trim(e.lines[e.at], e.col) + string(r)
			e.col = text.StringWidthWithoutEscSequences(e.lines[e.at])
		}
	}
}

func (e *terminalOf) up() {
	switch {
	case e.col >= e.width:
		e.col -= e.width
	case e.at == 0:
		e.t.Fatal("the cursor moves above what was printed")
	default:
		e.at--
		e.col += (e.rowsOf(e.lines[e.at]) - 1) * e.width
	}
}

func (e *terminalOf) String() string { return strings.Join(e.lines, "\n") }

// Nothing stays behind of what was drawn while a run went on: on narrow terminals, with
// characters of two columns, and when the window changes its size in between.
func TestNoRowStaysBehind(t *testing.T) {
	for _, widths := range [][]int{{80}, {40}, {20}, {80, 40, 25, 100, 80}, {100, 21, 33, 80}} {
		master := pseudoTerminal(t, uint16(widths[0]))
		var out bytes.Buffer
		p := newProgress(drawnInto(&out, master), minutes(1), 20)
		p.loads = true
		e := &terminalOf{t: t, width: widths[0], lines: []string{""}}
		e.write("$ netdyno URL\r\n")
		trial := record.Trial{ID: "b01-001", Arm: "例え.テスト/検索/日本語の長い名前のページ", Cell: "connections=10"}
		for i, width := range append(widths, widths[len(widths)-1]) {
			size := unix.Winsize{Col: uint16(width), Row: 24}
			if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &size); err != nil {
				t.Fatal(err)
			}
			e.width = width
			for _, event := range []bench.Event{
				{Trial: trial, Of: 3, Index: i}, {Tick: &contract.Tick{AtNs: 1e9, Exchanges: 1000}},
				{Tick: &contract.Tick{AtNs: 2e9, Exchanges: 21000, Errors: 3}},
				{Trial: trial, Of: 3, Index: i, Record: &record.Record{Trial: trial, Outcome: record.OK}},
			} {
				p.drawn = time.Time{} // as if half a second had passed
				p.observe(event)
				e.write(out.String())
				out.Reset()
			}
			p.show([]string{"after 1 block    rate k/s  ±  service p50 ms  service p99 ms  errors %  server cores", trial.Arm + strings.Repeat(" 界", 40), "100 connections"})
			e.write(out.String())
			out.Reset()
			if got := strings.Count(e.String(), "100 connections"); got != 1 || len(e.lines) != 5 {
				t.Fatalf("widths %v at %d: %d tables:\n%s", widths, width, got, e)
			}
			for _, line := range e.lines[1:] {
				if n := text.StringWidthWithoutEscSequences(line); n >= width {
					t.Errorf("widths %v: a line of %d columns on a terminal of %d: %q", widths, n, width, line)
				}
			}
		}
		p.finish()
		e.write(out.String())
		if got := strings.TrimRight(e.String(), "\n"); got != "$ netdyno URL" {
			t.Errorf("widths %v: left behind:\n%s", widths, got)
		}
	}
}

// What is drawn has no more rows than the terminal.
func TestDrawnFitsALowTerminal(t *testing.T) {
	var out bytes.Buffer
	s := drawnInto(&out, pseudoTerminal(t, 80))
	s.rows = func() int { return 5 }
	s.redraw("1", "2", "3", "4", "5", "6")
	if len(s.drawn) != 4 || strings.Contains(out.String(), "5") {
		t.Errorf("drew %q", out.String())
	}
}

// The line of a run by URL counts what was answered, over all of its trials.
func TestProgressCountsRequests(t *testing.T) {
	p := newProgress(drawnInto(&bytes.Buffer{}, os.Stderr), minutes(1), 20)
	p.loads = true
	for _, e := range []bench.Event{
		{Of: 2}, {Tick: &contract.Tick{AtNs: 1e9, Exchanges: 1000}}, {Client: 1, Tick: &contract.Tick{AtNs: 1e9, Exchanges: 500, Errors: 2}},
		{Of: 2, Record: &record.Record{Outcome: record.OK}},
		{Of: 2, Index: 1, Trial: record.Trial{Block: 2, Cell: "connections=10"}}, {Tick: &contract.Tick{AtNs: 1e9, Exchanges: 3000}},
	} {
		p.observe(e)
	}
	if got := p.load("34.5 k/s"); !strings.HasSuffix(got, "34.5 k/s now · 4.50 k requests · 2 errors · block 2, 10 connections") {
		t.Errorf("%q", got)
	}
}
