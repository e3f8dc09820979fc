package finding_test

import (
	"math"
	"testing"

	"netdyno/internal/read/compare"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A pair that is declared besides is compared within blocks, judged, and of the
// same family as the comparisons with the baseline.
func TestPairsBesidesTheBaselineAreJudged(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{
		Bare: true, Blocks: 8, SD: 0.005, BlockSD: 0.3, Primary: []string{"server.cpu_us_per_exchange"}, Rate: 20_000, Connections: []int{50},
		Arms: []synthetic.Arm{{Name: "unary", Cost: 1}, {Name: "stream", Cost: 0.5}, {Name: "same", Cost: 0.5}, {Name: "tuned", Cost: 0.25}},
	})
	h.Study.Compare.Also = []record.Pair{{Arm: "tuned", Base: "stream"}, {Arm: "same", Base: "stream"}, {Arm: "stream", Base: "absent"}}
	f := find(t, h, trials, records)
	found := map[string]compare.Comparison{}
	primary := 0
	for _, c := range f.Comparisons {
		if c.Primary {
			primary++
			found[c.Arm+"÷"+c.Base] = c
		}
	}
	if primary != 5 {
		t.Fatalf("%d primary comparisons, want 3 with the baseline and 2 besides: %v", primary, found)
	}
	if c := found["tuned÷stream"]; c.Verdict != compare.Better || math.Abs(c.Ratio-0.5) > 0.02 || c.Family != 5 || c.Sentence == "" {
		t.Errorf("half the cost is %+v", c)
	}
	if c := found["same÷stream"]; c.Verdict != compare.Equivalent {
		t.Errorf("the same is %s: %+v", c.Verdict, c)
	}
}
