package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/session"
)

// pipeline carries studies out as netdyno run does, from the words typed to
// the findings, and leaves no files.
type pipeline struct {
	bin   string // absolute
	bench *bench.Bench
	facts record.Facts

	record string // directory that keeps the trials of the questions "limits", "mesh" and "grid"; "" to keep none
	server string // part of the names of servers that are asked by URL
	runs   int    // of each kind, of the questions "power-pairs" and "power-peers"
}

func open(ctx context.Context, bin string) (*pipeline, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	b, err := session.OnLoopback(ctx, bin)
	if err != nil {
		return nil, err
	}
	tools, err := b.Catalog.Binaries(func(bench.Program) bool { return true })
	if err != nil {
		return nil, err
	}
	_, seats, err := rig.Survey(ctx, b.Rig.Hosts(), filepath.Join(bin, "netdyno-host"))
	return &pipeline{bin: bin, bench: b, facts: record.Facts{Rig: b.Rig.Name(), Seats: seats, Tools: tools}}, err
}

// on is the pipeline on another rig.
func (p *pipeline) on(r rig.Rig) *pipeline {
	return &pipeline{bin: p.bin, bench: &bench.Bench{Rig: r, Catalog: p.bench.Catalog, Meter: p.bench.Meter}, facts: p.facts}
}

// study runs a typed study, or a built-in one, and reads it. A run in which more
// than one trial in ten is not valid tells nothing.
func (p *pipeline) study(ctx context.Context, args ...string) (finding.Findings, error) {
	header, trials, records, err := p.records(ctx, args...)
	if err != nil {
		return finding.Findings{}, err
	}
	return readable(header, trials, records)
}

// records runs a typed study and keeps what its trials left.
func (p *pipeline) records(ctx context.Context, args ...string) (record.Header, []record.Trial, []record.Record, error) {
	header, trials, err := session.TrialsOf(args...)
	if err != nil {
		return header, nil, nil, err
	}
	header.CreatedAt, header.Facts = time.Now().UTC(), p.facts
	records, err := session.Conduct(ctx, p.bench, trials)
	return header, trials, records, err
}

// steered runs a typed study of which next decides before each block what of the block
// runs, and returns the trials that did.
func (p *pipeline) steered(ctx context.Context, next func(*cells.Dataset, int) (record.Allocation, string), args ...string) (record.Header, []record.Trial, []record.Record, error) {
	header, trials, err := session.TrialsOf(args...)
	if err != nil {
		return header, nil, nil, err
	}
	header.CreatedAt, header.Facts = time.Now().UTC(), p.facts
	var records []record.Record
	b := p.on(p.bench.Rig).bench
	b.Keep = func(r record.Record) error { records = append(records, r); return nil }
	b.Before = func(block int, planned []record.Trial) ([]record.Trial, bool, error) {
		s, err := cells.Read(header, record.Allocated(trials, header.Allocations), records)
		if err != nil {
			return nil, false, err
		}
		decided, _ := next(s, block)
		header.Allocations = append(header.Allocations, decided)
		return record.Allocated(planned, []record.Allocation{decided}), decided.Ended, nil
	}
	err = b.Run(ctx, trials)
	return header, record.Allocated(trials, header.Allocations), records, err
}

func readable(header record.Header, trials []record.Trial, records []record.Record) (finding.Findings, error) {
	f, err := finding.Find(header, trials, records)
	if err == nil && f.Tally.Valid < f.Tally.Planned*9/10 {
		err = fmt.Errorf("of %d trials only %d are valid (%d failed)", f.Tally.Planned, f.Tally.Valid, f.Tally.Failed)
	}
	return f, err
}

// share prints so many of so many with the exact interval of their share.
func share(k, n int) string {
	low, high := stat.Proportion(k, n)
	return fmt.Sprintf("%d of %d (%.1f %%, %.1f–%.1f %%)", k, n, 100*float64(k)/float64(n), 100*low, 100*high)
}

// atMost holds a share to a bound from above.
func atMost(k, n int, bound float64) bool { return n > 0 && float64(k) <= bound*float64(n) }
