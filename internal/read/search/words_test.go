package search

import (
	"encoding/json"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// A server carries at least a rate where the load generator was full; where nothing
// proves that, the sentence says why. An undecided rate is called undecided, with the
// reason and what would decide it; that no rate meets an objective is another sentence.
func TestWhatAnArmCarriesIsSaid(t *testing.T) {
	f := &Search{Metric: metric.ExchangesPerS, Objective: []record.Bound{{Text: "response_p99 <= 10ms", Metric: metric.ResponseP99, Value: 10_000}}, Baseline: "base"}
	missed := []Try{{ID: "b02-001", Rate: 1200}}
	for name, c := range map[string]struct {
		arm  Arm
		want string
	}{
		"the server's":    {Arm{Fate: Carries, Limit: trial.ServerCPU, LimitOf: contract.Server}, "a carries 1.00 k/s (0.950–1.04) with response p99 ≤ 10 ms; limited by the server's CPUs."},
		"the generator's": {Arm{Fate: AtLeast, Limit: trial.ClientCPU, LimitOf: contract.Client, Tries: missed}, "carries at least 1.00 k/s with response p99 ≤ 10 ms: the client was the limit above that"},
		"in few windows":  {Arm{Fate: Carries, Limit: trial.ClientCPU, LimitOf: contract.Client, Tries: missed}, "; in some windows the client was the limit."},
		"not known":       {Arm{Fate: Carries, Limit: trial.Unknown}, "; what limits it is not known, so it may be the client."},
		"of two":          {Arm{Fate: AtLeast, Limit: trial.ServerCPU, LimitOf: contract.Server, Tries: missed}, ": the client was the limit above that"},
		"never reached":   {Arm{Fate: AtLeast, Limit: trial.ServerCPU, LimitOf: contract.Server}, ": no window missed it."},
		"ends failing":    {Arm{Fate: AtLeast, Tries: []Try{{Rate: 1500, Untold: true, Why: "it failed: the server ended"}}}, "no window that tells missed it, and 1 window told nothing, the last because it failed: the server ended."},
		"nothing is full": {Arm{Fate: Carries, Limit: trial.Latency}, "; no CPU is full: responses wait in the server or for what stands behind it."},
		"beside others":   {Arm{Fate: Carries, Wide: true, Ratio: &Estimate{2, 1.9, 2.1}}, "; that is 2.00× (1.90–2.10) of what base carries; a longer --time narrows that."},
		"undecided":       {Arm{Fate: Undecided, Why: "its windows contradict each other", Cure: "the same search with --time 5m would tell more"}, "How much a carries with response p99 ≤ 10 ms is undecided: its windows contradict each other; the same search with --time 5m would tell more."},
		"nothing":         {Arm{Fate: Nothing, Why: "each of 8 windows that tell missed it"}, "a meets response p99 ≤ 10 ms at no rate that was tried: each of 8 windows that tell missed it."},
	} {
		c.arm.Arm, c.arm.Figure = "a", &cells.Figure{Value: 1000, Low: 950, High: 1040}
		if got := f.rateSentence(c.arm); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q lacks %q", name, got, c.want)
		}
	}
}

// A gain that may not be judged is not called unproven by its figures: the reason is said.
func TestARefusedConfirmationGivesItsReason(t *testing.T) {
	f := &Search{Metric: metric.Goodput, Baseline: "defaults", Choice: &Choice{
		State: Kept, Winner: "chunk-1MiB", Recommended: "defaults",
		Gain: &compare.Comparison{Ratio: 1.5, Low: 1.2, High: 1.9, Blocks: 9, Verdict: compare.Invalid, Reason: "other processes used 42 % of the CPUs"},
	}}
	if got := f.unproven(true); strings.Contains(got, "do not show it better") || !strings.Contains(got, "cannot confirm it: other processes used 42 % of the CPUs") {
		t.Error(got)
	}
}

// Records of earlier releases, whose bounds had no sign and whose races ended by trials, too,
// are still read.
func TestARaceOfAnEarlierReleaseIsRead(t *testing.T) {
	var h record.Header
	old := `{"study":{"race":{"best":"exchanges_per_s","confirm":6,"trials":51,"within":[{"text":"200MB","metric":"server.rss_bytes","value":2e8}],"as":{"opt.x":"X({value})"}}}}`
	if err := json.Unmarshal([]byte(old), &h); err != nil {
		t.Fatal(err)
	}
	if got := objectiveWords(h.Study.Race.Within); got != "server RSS ≤ 200 MB" || h.Study.Race.Confirm != 6 {
		t.Errorf("read %+v, whose bounds are %q", h.Study.Race, got)
	}
}
