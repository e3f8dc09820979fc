// Package benchtest carries out typed studies for tests that need whole trials.
package benchtest

import (
	"context"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/session"
	"netdyno/test/programs"
)

// In returns a bench on loopback over the workers of catalog, with the meter of
// the netdyno in directory bin.
func In(bin string, catalog *bench.Catalog) *bench.Bench { return session.BenchOf(bin, catalog) }

// Built returns a bench on loopback over the programs in bin/.
func Built(t testing.TB) *bench.Bench {
	t.Helper()
	programs.Whole(t)
	bin, err := programs.Bin()
	if err != nil {
		t.Fatal(err)
	}
	b, err := session.OnLoopback(t.Context(), bin)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Plan returns the trials of a typed study, and the part of a run's header that
// tells of it.
func Plan(t testing.TB, args ...string) (record.Header, []record.Trial) {
	t.Helper()
	header, trials, err := session.TrialsOf(args...)
	if err != nil {
		t.Fatal(err)
	}
	return header, trials
}

// Conduct runs trials and returns their records, one of each. It takes b.Keep
// for itself.
func Conduct(ctx context.Context, t testing.TB, b *bench.Bench, trials []record.Trial) []record.Record {
	t.Helper()
	records, err := session.Conduct(ctx, b, trials)
	if err != nil {
		t.Fatal(err)
	}
	return records
}
