package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// hostile are names that mean something to a format, a spreadsheet or a terminal.
var hostile = []string{
	"a\"b", "a\nb", "a,b", "a=b", "a/b", `a\b`, "\x1b[2Ja", "a\xffb", `=HYPERLINK("http://x/")`, "+1+1", "-2+3", "@sum", "tab\there", "héé-1", "{a} # x", "", "\u202eabc", "\x00", "B\u2028/é%",
}

// run is a synthetic run as it lies on disk.
func run(o synthetic.Options) Run {
	header, trials, records := synthetic.Run(o)
	header.Directory = "results/event-loops-1/"
	return Run{Header: header, Plan: trials, Records: records}
}

// small is a run with an answer: three arms, two cells, two blocks, an open loop.
func small() Run { return run(synthetic.Options{Rate: 20_000, Blocks: 2, Seed: 7, SD: 0.01}) }

// hostileRun is a run whose study, arms and levels have names from outside, without
// histograms unless they are asked for.
func hostileRun(times ...bool) Run {
	var arms []synthetic.Arm
	for _, name := range hostile {
		arms = append(arms, synthetic.Arm{Name: name, Server: "go-net", Levels: map[string]string{"path": name, "trial": "x", "opt.a b": name}})
	}
	r := run(synthetic.Options{Arms: arms, Blocks: 2, Connections: []int{50}, Rate: 5000, Seed: 3, Bare: len(times) == 0})
	r.Header.Study.Name = "st\"u\nd,y=/\x1b\xff"
	for i := range r.Records {
		if r.Records[i].Trial.Block == 2 && i%2 == 0 {
			r.Records[i].Outcome = record.Failed
			r.Records[i].Failure = &record.Failure{Kind: "peer", Text: "no\nway, \"it\" said\x1b[2J\xff", Worker: "server", State: "ready"}
		}
	}
	return r
}

// written is what a format makes of a run.
func written(t *testing.T, format string, r Run, table string) []byte {
	t.Helper()
	f, err := Named(format)
	if err != nil {
		t.Fatal(err)
	}
	var which Table
	if table != "" {
		if which, err = TableNamed(table); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := f.Write(&b, r, which); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// inOne are the formats of one file.
func inOne() []Format { return slices.DeleteFunc(Formats(), Format.Several) }

var errFull = errors.New("no space left")

// full is a disk with room for so many bytes.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

// Every format passes on that its output could not be written, at the beginning or
// later.
func TestAFullDiskIsAnError(t *testing.T) {
	r := small()
	for _, f := range inOne() {
		for _, room := range []int{0, 1500} {
			if err := f.Write(&full{room}, r, Table{}); !errors.Is(err, errFull) {
				t.Errorf("%s after %d bytes: error %v, want %v", f.Name, room, err, errFull)
			}
		}
	}
}

// A run that has just begun, and one that is of an unknown metric.
func TestRunsWithoutFigures(t *testing.T) {
	begun := small()
	begun.Records = nil
	unknown := small()
	unknown.Header.Study.Compare.Primary = []string{"beauty"}
	for _, f := range inOne() {
		if err := f.Write(&bytes.Buffer{}, begun, Table{}); err != nil {
			t.Errorf("%s of a run without records: %v", f.Name, err)
		}
		if err := f.Write(&bytes.Buffer{}, unknown, Table{}); err == nil || !strings.Contains(err.Error(), "beauty") {
			t.Errorf("%s of a study with an unknown metric: %v", f.Name, err)
		}
	}
}

func TestNamesOfFormatsAndTables(t *testing.T) {
	if _, err := Named("cvs"); err == nil || !strings.Contains(err.Error(), `no format "cvs"`) || !strings.Contains(err.Error(), "csv") {
		t.Errorf("a mistyped format: %v", err)
	}
	if _, err := TableNamed("arm"); err == nil || !strings.Contains(err.Error(), "arms") {
		t.Errorf("a mistyped table: %v", err)
	}
}

func TestJSONIsWhatWasFound(t *testing.T) {
	r := small()
	r.Unplanned = 3
	want, err := finding.Find(r.Header, r.Plan, r.Records)
	if err != nil {
		t.Fatal(err)
	}
	want.Tally.Unplanned = 3
	text, err := json.MarshalIndent(want, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if got := written(t, "json", r, ""); !bytes.Equal(got, append(text, '\n')) {
		t.Errorf("%d bytes, want %d", len(got), len(text)+1)
	}
	if err := json.Unmarshal(written(t, "json", hostileRun(), ""), new(finding.Findings)); err != nil {
		t.Errorf("hostile names: %v", err)
	}
}

// A log of times keeps one line for each trial and sort whatever the names are.
func TestHostileNamesInALog(t *testing.T) {
	text := string(written(t, "hlog", hostileRun(true), ""))
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "Tag=") && strings.Count(line, ",") != 4 {
			t.Errorf("a line of %d fields: %.80q", strings.Count(line, ",")+1, line)
		}
		if !strings.HasPrefix(line, "Tag=") && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, `"Start`) {
			t.Errorf("a line of no kind: %.80q", line)
		}
	}
	if strings.ContainsAny(text, "\x1b\x00") || !utf8.ValidString(text) || strings.Count(text, "Tag=") < len(hostile) {
		t.Error("a control character, or too few lines")
	}
}

// It writes an example of each format for a reader's eyes, to a directory that is
// named.
func TestSaveExamples(t *testing.T) {
	directory := os.Getenv("NETDYNO_EXPORTS")
	if directory == "" {
		t.Skip("NETDYNO_EXPORTS names no directory for examples")
	}
	for _, f := range inOne() {
		for name, r := range map[string]Run{"small": small(), "hostile": hostileRun(true)} {
			if err := os.WriteFile(directory+"/"+name+"."+f.Name, written(t, f.Name, r, ""), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
