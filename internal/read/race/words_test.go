package race

import (
	"strings"
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// A gain that may not be judged is not called unproven by its figures: the reason is said.
func TestARefusedConfirmationGivesItsReason(t *testing.T) {
	r := &Race{
		Spec: record.Race{Best: metric.Goodput}, State: Unproven, Baseline: "defaults", Winner: "chunk-1MiB",
		Gain: &compare.Comparison{Ratio: 1.5, Low: 1.2, High: 1.9, Blocks: 9, Verdict: compare.Invalid, Reason: "other processes used 42 % of the CPUs"},
	}
	if got := raceAnswer(r); strings.Contains(got, "do not show it better") || !strings.Contains(got, "cannot confirm it: other processes used 42 % of the CPUs") {
		t.Error(got)
	}
}

// An option that only makes things worse has no best level that matters.
func TestAnOptionMattersAtTheLevelThatChangesSomething(t *testing.T) {
	tried := []Tried{
		{Level: "small", Ratio: stat.Estimate{Point: 0.5, Low: 0.4, High: 0.6}},
		{Level: "large", Ratio: stat.Estimate{Point: 1.01, Low: 0.8, High: 1.3}},
	}
	o := Option{Factor: "opt.x", Effect: Mattered, Tried: tried, Best: &tried[1]}
	if got, want := o.matteredWords(), "opt.x (at small: 50.0 % lower (40.0–60.0 %); at best large: not told apart)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	o.Best = &tried[0]
	if got, want := o.matteredWords(), "opt.x (at best small: 50.0 % lower (40.0–60.0 %))"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
