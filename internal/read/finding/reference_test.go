package finding_test

import (
	"slices"
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/read/best"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/test/synthetic"
)

// A reference is compared as any other arm, and is not among those that may be the best,
// though nothing is quicker.
func TestAReferenceIsNeverWhatToUse(t *testing.T) {
	header, trials, records := synthetic.Run(synthetic.Options{
		Arms: []synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 1.4}, {Name: "echo", Cost: 0.3}}, Connections: []int{50}, Blocks: 8, SD: 0.01,
		Primary: []string{metric.OfServer + metric.CPUPerExchange},
	})
	used := func() (all []string) {
		f, err := finding.Find(header, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(f.Comparisons, func(c compare.Comparison) bool { return c.Arm == "echo" && c.Verdict == compare.Better }) {
			t.Errorf("the echo is not compared: %+v", f.Comparisons)
		}
		for _, s := range f.Best.Sets {
			for _, a := range s.Arms {
				if a.Standing == best.Best {
					all = append(all, a.Name)
				}
			}
		}
		return all
	}
	if got := used(); !slices.Equal(got, []string{"echo"}) {
		t.Fatalf("best is %v", got)
	}
	header.Study.Reference = []string{"echo"}
	if got := used(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("best beside a reference is %v", got)
	}
}
