// Package benchtest carries out typed studies for tests that need whole trials.
package benchtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// In returns a bench on loopback over the workers of catalog, with the meter of
// the netdyno in directory bin.
func In(bin string, catalog *bench.Catalog) *bench.Bench {
	return &bench.Bench{Rig: rig.Loopback{}, Catalog: catalog, Meter: []string{filepath.Join(bin, "netdyno"), "meter"}}
}

// Built is In over what `make build` put into directory bin; where that has no
// workers, it skips the test.
func Built(t testing.TB, bin string) *bench.Bench {
	t.Helper()
	bin, err := filepath.Abs(bin)
	if err != nil {
		t.Fatal(err)
	}
	catalog := bench.Discover(t.Context(), []string{bin})
	if len(catalog.Programs) == 0 {
		t.Skipf("no workers in %s: `make build` puts them there", bin)
	}
	return In(bin, &catalog)
}

// Plan returns the trials of a typed study, and the part of a run's header that
// tells of it.
func Plan(t testing.TB, args ...string) (record.Header, []record.Trial) {
	t.Helper()
	s, err := study.ParseArgs(args, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	trials, _, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return record.Header{Schema: record.Schema, Study: study.Summary(s)}, trials
}

// Conduct runs trials and returns their records, one of each. It takes b.Keep
// for itself.
func Conduct(ctx context.Context, t testing.TB, b *bench.Bench, trials []record.Trial) []record.Record {
	t.Helper()
	var records []record.Record
	b.Keep = func(r record.Record) error { records = append(records, r); return nil }
	if err := b.Run(ctx, trials); err != nil {
		t.Fatal(err)
	}
	if len(records) != len(trials) {
		t.Fatalf("%d trials left %d records", len(trials), len(records))
	}
	return records
}
