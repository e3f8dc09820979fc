// Package answers_test reads what each built-in study answers, in words, on records
// of its own plan that were made up: a change of wording is seen in a diff.
package answers_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/report"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/test/synthetic"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// answerOf is the question of a study, and its answer a sentence a line.
func answerOf(t *testing.T, name string) string {
	t.Helper()
	s, err := source.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	if s.NeedsHosts() { // of a rig
		if s, err = s.OnHosts([]string{"node1", "node2", "node3", "node4"}); err != nil {
			t.Fatal(err)
		}
	}
	trials, _, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	const blocks = 8 // of the first look
	trials = study.Before(trials, min(blocks, s.Blocks))
	header, records, err := synthetic.Planned(study.Summary(s), trials)
	if err != nil {
		t.Fatal(err)
	}
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	if f.Tally.Valid < f.Tally.Planned {
		t.Fatalf("%d of %d trials are valid: %+v", f.Tally.Valid, f.Tally.Planned, f.Warnings)
	}
	return screenOf(t, f)
}

// screenOf is what a run leaves on a terminal.
func screenOf(t *testing.T, f finding.Findings) string {
	t.Helper()
	var b strings.Builder
	if err := report.NewScreen(f).Text(&b, report.TextOptions{Width: 80}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestAnswersOfTheStudies(t *testing.T) {
	for _, name := range source.List() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			matches(t, name, answerOf(t, name))
		})
	}
}

// matches compares an answer with the one that is kept.
func matches(t *testing.T, name, got string) {
	t.Helper()
	golden := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the answer is now\n%s\nand was\n%s\ngo test ./test/answers -update rewrites it", got, want)
	}
}
