package finding_test

import (
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/test/synthetic"
)

// A metric that the study did not declare has its ratio and its interval, and
// no verdict: with a hundred of them nothing small could ever pass, and a mark
// would read as a judgement.
func TestExploredMetricsAreNotJudged(t *testing.T) {
	f := findIn(t, synthetic.Options{
		Blocks: 7, SD: 0.002, Rate: 20000, Seed: 1, Primary: []string{serverCPU},
		Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 1.5}},
	})
	explored := 0
	for _, c := range f.Comparisons {
		if c.Primary {
			if c.Verdict != compare.Worse || c.Method != compare.Holm || c.Adjusted > cells.Level {
				t.Errorf("primary: %+v", c)
			}
			continue
		}
		explored++
		judged := c.P != 0 || c.Adjusted != 0 || c.Family != 0 || c.Method != "" || c.Bound != 0 || c.Sentence != "" || c.NeedsMore != 0
		if c.Verdict != compare.NotJudged || judged {
			t.Errorf("explored: %+v", c)
		}
		if c.Blocks < 2 || len(c.Ratios) != c.Blocks || c.Low > c.Ratio || c.High < c.Ratio || c.Low <= 0 {
			t.Errorf("explored without its ratio and interval: %+v", c)
		}
	}
	if explored < 10 {
		t.Errorf("%d explored comparisons", explored)
	}
}

// What may not be compared at all keeps its reason, judged or not.
func TestExploredMetricsKeepTheirReason(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{
		Blocks: 7, SD: 0.002, Rate: 20000, Seed: 1, Primary: []string{serverCPU}, Connections: []int{50},
		Arms: []synthetic.Arm{{Name: "a"}, {Name: "b"}},
	})
	for i := range records {
		if records[i].Trial.Arm == "b" {
			for w := range records[i].Workers {
				records[i].Workers[w].Setup.Load.Rate = 20500 // of which 97.6 % are reached
			}
		}
	}
	refused := 0
	for _, c := range find(t, h, trials, records).Comparisons {
		if !c.Primary && c.Verdict == compare.NotJudged && c.Reason != "" {
			refused++
		}
	}
	if refused == 0 {
		t.Error("times of an overloaded arm are compared as if they were not")
	}
}
