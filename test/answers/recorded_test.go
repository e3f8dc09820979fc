package answers_test

import (
	"bytes"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/report"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
	"netdyno/test/kept"
)

// cut is a word that an ellipsis follows; what is typed, as response=…, is none.
var cut = regexp.MustCompile(`[\pL\pN).,;: ]…`)

// notCut demands that no form of a report leaves out a part of a text.
func notCut(t *testing.T, f finding.Findings) {
	t.Helper()
	page := report.New(f)
	for name, write := range map[string]func(io.Writer) error{
		"screen":   func(w io.Writer) error { return report.NewScreen(f).Text(w, report.TextOptions{Width: 80}) },
		"text":     func(w io.Writer) error { return page.Text(w, report.TextOptions{Width: 80}) },
		"Markdown": page.Markdown,
		"page":     page.HTML,
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(b.String(), "<script")
		if at := cut.FindStringIndex(text); at != nil {
			t.Errorf("%s: %q is cut", name, text[max(0, at[0]-80):at[1]])
		}
	}
}

// Real runs as test/answers/record keeps them: without probes and facts that no answer
// has. Built-in studies have today's labels, and expect what they do today.
func TestAnswersOfRecordedRuns(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.records.jsonl.gz")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".records.jsonl.gz")
		t.Run(name, func(t *testing.T) {
			read, err := record.Read(kept.Unpacked(t, file))
			if err != nil || len(read.Problems) > 0 {
				t.Fatal(read.Problems, err)
			}
			trials, err := record.ReadTrials(kept.Unpacked(t, strings.Replace(file, ".records.", ".trials.", 1)))
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(source.List(), name) {
				s, err := source.Named(name)
				if err != nil {
					t.Fatal(err)
				}
				today := study.Summary(s)
				read.Header.Study.Labels, read.Header.Study.Expect, read.Header.Study.Retired = today.Labels, today.Expect, record.Retired{}
			}
			f, err := finding.Find(read.Header, record.Allocated(trials, read.Header.Allocations), read.Records)
			if err != nil {
				t.Fatal(err)
			}
			notCut(t, f)
			matches(t, "recorded/"+name, screenOf(t, f)+"\nHow this was judged\n"+strings.Join(f.Answer.Judged, "\n")+"\n"+stated(f))
		})
	}
}

// stated is what became of each statement.
func stated(f finding.Findings) string {
	var b strings.Builder
	for _, r := range f.Expect {
		b.WriteString("\n" + string(r.State) + ": " + r.Spec.Name() + "\n    " + r.Ground + "\n")
	}
	return b.String()
}
