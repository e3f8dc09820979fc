package answers_test

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// unpacked is a file of testdata without its compression.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	in, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(name), ".gz"))
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Real runs on a machine of two CPUs, most of them beside other processes, as they were
// recorded: their header without facts that no answer uses, the first six blocks of those
// with more, and of one study one cell. Built-in studies have today's labels.
func TestAnswersOfRecordedRuns(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.records.jsonl.gz")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".records.jsonl.gz")
		t.Run(name, func(t *testing.T) {
			read, err := record.Read(unpacked(t, file))
			if err != nil || len(read.Problems) > 0 {
				t.Fatal(read.Problems, err)
			}
			trials, err := record.ReadTrials(unpacked(t, strings.Replace(file, ".records.", ".trials.", 1)))
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(source.List(), name) {
				s, err := source.Named(name)
				if err != nil {
					t.Fatal(err)
				}
				read.Header.Study.Labels = study.Summary(s).Labels
			}
			f, err := finding.Find(read.Header, trials, read.Records)
			if err != nil {
				t.Fatal(err)
			}
			matches(t, "recorded/"+name, strings.Join(f.Answer.Text(), "\n")+"\n\nHow this was judged\n"+strings.Join(f.Answer.Judged, "\n")+"\n")
		})
	}
}
