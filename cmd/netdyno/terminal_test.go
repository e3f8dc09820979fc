package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
)

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
