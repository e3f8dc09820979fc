package report

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"netdyno/internal/read/export"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/kept"
)

// forms are all that is written of findings, by name; whole records are left out of the
// page, as those of a large run are.
func forms(t *testing.T, f finding.Findings) map[string][]byte {
	t.Helper()
	for _, v := range f.Trials {
		v.Light = true
	}
	p, all := New(f), map[string][]byte{}
	for name, write := range map[string]func(io.Writer) error{
		"page": p.HTML, "markdown": p.Markdown,
		"text":     func(w io.Writer) error { return p.Text(w, TextOptions{}) },
		"screen":   func(w io.Writer) error { return NewScreen(f).Text(w, TextOptions{Width: 80}) },
		"findings": func(w io.Writer) error { return export.WriteFindings(w, f) },
	} {
		all[name] = render(t, write)
	}
	return all
}

// same demands of two runs' findings the same bytes in every form.
func same(t *testing.T, got, want finding.Findings) {
	t.Helper()
	is := forms(t, got)
	for name, text := range forms(t, want) {
		if !bytes.Equal(is[name], text) {
			t.Errorf("%s differs", name)
		}
	}
}

// Real runs, judged as they are read and lightened, are reported to the last byte as they
// are whole; and what is lightened is really gone.
func TestRecordsJudgedAsTheyAreReadSayTheSame(t *testing.T) {
	files, err := filepath.Glob("../../../test/limits/testdata/*/" + record.RecordsFile)
	if err != nil || len(files) < 10 {
		t.Fatal(len(files), err)
	}
	packed, err := filepath.Glob("../../../test/answers/testdata/recorded/*.records.jsonl.gz")
	if err != nil || len(packed) < 5 {
		t.Fatal(len(packed), err)
	}
	for _, file := range slices.Concat(files, packed) {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			records, plan := recorded(t, file)
			trials, err := record.ReadTrials(plan)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := record.Read(records)
			if err != nil {
				t.Fatal(err)
			}
			if whole.Header.Study.Steered() { // its plan is known once its records are read
				return
			}
			early := trial.NewEarly(trials)
			lean, err := record.ReadEach(records, early.Take)
			if err != nil {
				t.Fatal(err)
			}
			leaner := trial.NewEarly(trials)
			leaner.Accounts = 0
			leanest, err := record.ReadEach(records, leaner.Take)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range lean.Records {
				if w := r.Workers; !r.Trial.Probe && len(w) > 0 && (w[0].Idle != nil || w[0].Open != nil && w[0].Open.Meter.CPUs != nil) {
					t.Errorf("trial %s is whole", r.Trial.ID)
				}
			}
			trials = record.Allocated(trials, whole.Header.Allocations)
			want, err := finding.Find(whole.Header, trials, whole.Records)
			if err != nil {
				t.Fatal(err)
			}
			got, err := finding.FindJudged(lean.Header, trials, lean.Records, early)
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
			if got, err = finding.FindJudged(leanest.Header, trials, leanest.Records, leaner); err != nil {
				t.Fatal(err)
			}
			got.Trials, want.Trials = nil, nil // of which the page then has no account
			same(t, got, want)
		})
	}
}

// recorded are the files of a run that tests keep, unpacked where they are packed.
func recorded(t *testing.T, records string) (unpackedRecords, plan string) {
	t.Helper()
	if filepath.Ext(records) != ".gz" {
		return records, filepath.Join(filepath.Dir(records), record.TrialsFile)
	}
	return kept.Unpacked(t, records), kept.Unpacked(t, records[:len(records)-len(".records.jsonl.gz")]+".trials.jsonl.gz")
}
