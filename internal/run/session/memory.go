package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// OnLoopback returns a bench on loopback over netdyno and its workers in a
// directory, where `make build` puts them. It fails when there are no workers.
func OnLoopback(ctx context.Context, bin string) (*bench.Bench, error) {
	bin, err := filepath.Abs(bin)
	if err != nil {
		return nil, err
	}
	catalog := bench.Discover(ctx, []string{bin})
	if len(catalog.Programs) == 0 {
		return nil, fmt.Errorf("find workers: no file in %s is named %s*; `make build` puts them into bin", bin, bench.WorkerPrefix)
	}
	return BenchOf(bin, &catalog), nil
}

// BenchOf returns a bench on loopback over the workers of catalog, with the meter of
// the netdyno in directory bin.
func BenchOf(bin string, catalog *bench.Catalog) *bench.Bench {
	return &bench.Bench{Rig: rig.Loopback{}, Catalog: catalog, Meter: []string{filepath.Join(bin, "netdyno"), "meter"}}
}

// TrialsOf returns the trials of a study as it is typed, those of its further
// looks left out, and the header of its run, as far as the study makes it.
func TrialsOf(args ...string) (record.Header, []record.Trial, error) {
	s, err := source.ParseArgs(args, os.ReadFile)
	if err != nil {
		return record.Header{}, nil, err
	}
	trials, _, err := s.Plan()
	return record.Header{Schema: record.Schema, Study: study.Summary(s)}, study.Before(trials, s.Blocks), err
}

// Conduct carries out trials and returns their records, one of each, without a
// directory. It sets b.Keep.
func Conduct(ctx context.Context, b *bench.Bench, trials []record.Trial) ([]record.Record, error) {
	var records []record.Record
	b.Keep = func(r record.Record) error { records = append(records, r); return nil }
	if err := b.Run(ctx, trials); err != nil {
		return records, err
	}
	if len(records) != len(trials) {
		return records, fmt.Errorf("%d trials left %d records", len(trials), len(records))
	}
	return records, nil
}
