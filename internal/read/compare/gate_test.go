package compare

import (
	"testing"

	"netdyno/internal/read/cells"
)

func TestGate(t *testing.T) {
	const lower, higher = "server.cpu_us_per_exchange", "exchanges_per_s"
	c := func(metric string, v Verdict, low, high float64) Comparison {
		return Comparison{Metric: metric, Verdict: v, Low: low, High: high, Bound: 0.02, Blocks: 8, Level: cells.Level, Primary: true, Reason: "why"}
	}
	few := c(lower, CannotTell, 0.99, 1.01)
	few.Blocks = 3
	explored := c(lower, Worse, 2, 3)
	explored.Primary = false
	for name, test := range map[string]struct {
		comparisons []Comparison
		failed      int
		want        GateResult
	}{
		"better":                     {[]Comparison{c(lower, Better, 0.5, 0.6)}, 0, NoWorse},
		"equivalent":                 {[]Comparison{c(lower, Equivalent, 0.99, 1.01)}, 0, NoWorse},
		"worse":                      {[]Comparison{c(lower, Worse, 1.05, 1.1)}, 0, IsWorse},
		"worse beside a doubt":       {[]Comparison{c(lower, Invalid, 0, 0), c(lower, Worse, 1.05, 1.1)}, 3, IsWorse},
		"doubt beside better":        {[]Comparison{c(lower, Better, 0.5, 0.6), c(lower, CannotTell, 0.9, 1.2)}, 0, Unproven},
		"no worse by its interval":   {[]Comparison{c(lower, CannotTell, 0.8, 1.01)}, 0, NoWorse},
		"a higher rate may be so":    {[]Comparison{c(higher, CannotTell, 0.99, 1.3)}, 0, NoWorse},
		"a higher cost may not":      {[]Comparison{c(lower, CannotTell, 0.99, 1.3)}, 0, Unproven},
		"a lower rate may not":       {[]Comparison{c(higher, CannotTell, 0.8, 1.01)}, 0, Unproven},
		"too few blocks":             {[]Comparison{few}, 0, Unproven},
		"invalid":                    {[]Comparison{c(lower, Invalid, 0, 0)}, 0, Unproven},
		"nothing compared":           {nil, 0, Unproven},
		"explored alone":             {[]Comparison{explored}, 0, Unproven},
		"explored is not asked":      {[]Comparison{explored, c(lower, Better, 0.5, 0.6)}, 0, NoWorse},
		"a trial failed":             {[]Comparison{c(lower, Better, 0.5, 0.6)}, 1, Unproven},
		"a metric without direction": {[]Comparison{c("no such metric", CannotTell, 0.99, 1.01)}, 0, Unproven},
	} {
		got, _ := Gate(Run{Comparisons: test.comparisons, Tally: cells.Tally{Failed: test.failed}})
		if got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
