package oracle_test

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/test/kept"
	"netdyno/test/oracle"
	"netdyno/test/synthetic"
)

var update = flag.Bool("update", false, "rewrite what is kept")

// A run is what findings are made of.
type run struct {
	header  record.Header
	trials  []record.Trial
	records []record.Record
}

// compares demands that a run's findings are those that are kept.
func compares(t *testing.T, name string, r run, left ...string) {
	t.Helper()
	f, err := finding.Find(r.header, r.trials, r.records)
	if err != nil {
		t.Fatal(err)
	}
	v, err := oracle.Of(f, append(left, "header", "schema")...) // the header is what was put in
	if err != nil {
		t.Fatal(err)
	}
	v.Compare(t, "testdata/"+name+".gz", *update)
}

// The runs that were recorded, and those of limits and flags.
func TestRecordedRuns(t *testing.T) {
	runs, err := filepath.Glob("../answers/testdata/recorded/*.records.jsonl.gz")
	if err != nil || len(runs) == 0 {
		t.Fatal(runs, err)
	}
	limits, err := filepath.Glob("../limits/testdata/*/records.jsonl")
	if err != nil || len(limits) == 0 {
		t.Fatal(limits, err)
	}
	for _, file := range append(runs, limits...) {
		name := "limit-" + filepath.Base(filepath.Dir(file))
		records, trials := file, filepath.Join(filepath.Dir(file), record.TrialsFile)
		if of, packed := strings.CutSuffix(file, ".records.jsonl.gz"); packed {
			name, records, trials = "run-"+filepath.Base(of), kept.Unpacked(t, file), kept.Unpacked(t, of+".trials.jsonl.gz")
		}
		t.Run(name, func(t *testing.T) {
			read, err := record.Read(records)
			if err != nil || len(read.Problems) > 0 {
				t.Fatal(read.Problems, err)
			}
			plan, err := record.ReadTrials(trials)
			if err != nil {
				t.Fatal(err)
			}
			compares(t, name, run{read.Header, record.Allocated(plan, read.Header.Allocations), read.Records})
		})
	}
}

// mostTrials leaves out the findings of studies that take long; each has a smaller one.
const mostTrials = 400

// Every study's plan, and what is found in records that were made up for its first blocks.
func TestStudies(t *testing.T) {
	plans := oracle.Values{}
	for _, name := range source.List() {
		s, err := source.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if s.NeedsHosts() {
			if s, err = s.OnHosts([]string{"node1", "node2", "node3", "node4"}); err != nil {
				t.Fatal(err)
			}
		}
		trials, _, err := s.Plan()
		if err != nil {
			t.Fatal(err)
		}
		plans[name] = oracle.Plan(trials)
		const blocks = 6 // the fewest that can tell arms apart
		if trials = study.Before(trials, min(blocks, s.Blocks)); len(trials) > mostTrials {
			continue
		}
		t.Run(name, func(t *testing.T) {
			header, records, err := synthetic.Planned(study.Summary(s), trials)
			if err != nil {
				t.Fatal(err)
			}
			compares(t, "study-"+name, run{header, trials, records}, "trials", "noise")
		})
	}
	plans.Compare(t, "testdata/plans.gz", *update)
}
