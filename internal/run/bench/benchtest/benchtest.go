// Package benchtest carries out typed studies for tests that need whole trials.
package benchtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/bench/typed"
)

// In returns a bench on loopback over the workers of catalog, with the meter of
// the netdyno in directory bin.
func In(bin string, catalog *bench.Catalog) *bench.Bench { return typed.On(bin, catalog) }

// Built returns a bench on loopback over what `make build` put into directory
// bin; where that has no netdyno, it skips the test.
func Built(t testing.TB, bin string) *bench.Bench {
	t.Helper()
	if _, err := os.Stat(filepath.Join(bin, "netdyno")); err != nil {
		t.Skipf("no programs in %s: `make build` puts them there", bin)
	}
	b, err := typed.Open(t.Context(), bin)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Plan returns the trials of a typed study, and the part of a run's header that
// tells of it.
func Plan(t testing.TB, args ...string) (record.Header, []record.Trial) {
	t.Helper()
	header, trials, err := typed.Plan(args...)
	if err != nil {
		t.Fatal(err)
	}
	return header, trials
}

// Conduct runs trials and returns their records, one of each. It takes b.Keep
// for itself.
func Conduct(ctx context.Context, t testing.TB, b *bench.Bench, trials []record.Trial) []record.Record {
	t.Helper()
	records, err := typed.Run(ctx, b, trials)
	if err != nil {
		t.Fatal(err)
	}
	return records
}
