package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/trials"
)

// A server that falls silent inside the window and never recovers: wrk, wrk2, oha
// and h2load print a clean run with a maximum of 10 to 12 ms there, because what
// never completed is in no histogram.
func TestAServerThatNeverRecoversLeavesNoCleanRun(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs("testdata/stalls.py")
	if err != nil {
		t.Fatal(err)
	}
	// 1800 exchanges are due from the start to the close; the server answers 750.
	// Either end may be late by a second and still see both.
	n := typing(t, "server=exec", "client=go-net", "opt.server.command=python3 "+script+" {port} 75000",
		"request=100B", "connections=8", "rate=500", "warmup=600ms", "window=3s", "blocks=1")
	var said string
	var f finding.Findings
	trials.Repeat(func() bool { // who times the window may have been held up
		n.dir = filepath.Join(t.TempDir(), "run")
		_, said = n.run()
		f = n.findings()
		return slices.ContainsFunc(f.Cells[0].Arms[0].Trials, func(judged trial.Trial) bool { return judged.Status != trial.Valid })
	})
	for _, judged := range f.Cells[0].Arms[0].Trials {
		if judged.Status != trial.Valid || !slices.Contains(judged.Flags, trial.Unfinished) {
			t.Fatalf("%s is %s with flags %v: %s\n%s", judged.ID, judged.Status, judged.Flags, judged.Reason, said)
		}
		// 1050, less where the client starts late; those in flight alone would be 8.
		if left := judged.Values.At("unfinished"); left < 490 {
			t.Errorf("%s left %v exchanges unfinished, want the 1050 that fell due, or some fewer", judged.ID, left)
		}
		if oldest := judged.Values.At("unfinished_age_max_us"); oldest < 2.5e6 {
			t.Errorf("%s: the oldest had waited %v µs, want two seconds of silence, or some less, and the 2 s of draining", judged.ID, oldest)
		}
		if judged.Moved["response_p90_us"] < 1e6 {
			t.Errorf("%s: moved %v, want the p90 beyond 1 s", judged.ID, judged.Moved)
		}
	}
	full := n.fullReport()
	if want := "exchanges due in the window of 2 of 2 trials were never completed"; !strings.Contains(strings.Join(strings.Fields(full), " "), want) {
		t.Errorf("the report does not say %q:\n%s", want, full)
	}
	if said := strings.Join(f.Answer.Weakens, "\n"); !strings.Contains(said, "never answered ") {
		t.Errorf("the answer is weakened by %q, want what was never answered", said)
	}
	n.family.mustEnd(t)
}

// findings reads the run's records as the report does.
func (n typed) findings() finding.Findings {
	n.t.Helper()
	plan, err := record.ReadTrials(n.path("trials.jsonl"))
	if err != nil {
		n.t.Fatal(err)
	}
	contents, err := record.Read(n.path("records.jsonl"))
	if err != nil {
		n.t.Fatal(err)
	}
	f, err := finding.Find(contents.Header, plan, contents.Records)
	if err != nil {
		n.t.Fatal(err)
	}
	return f
}
