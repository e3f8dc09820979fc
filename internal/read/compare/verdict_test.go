package compare

import (
	"math"
	"strings"
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
)

// around returns n ratios whose geometric mean is the centre and whose logs
// have about the given spread.
func around(centre, spread float64, n int) []float64 {
	ratios := make([]float64, n)
	for i := range ratios {
		side := 2*float64(i%2) - 1
		if n%2 == 1 && i == n-1 {
			side = 0
		}
		ratios[i] = centre * math.Exp(spread*side)
	}
	return ratios
}

func TestVerdictRule(t *testing.T) {
	cases := []struct {
		name   string
		ratios []float64
		better string
		bound  float64
		factor float64 // adjusted p by raw p
		want   Verdict
		reason string
		needs  bool
	}{
		{"lower is better", around(0.6, 0.02, 8), metric.Lower, 0.02, 1, Better, "", false},
		{"higher is better", around(0.6, 0.02, 8), metric.Higher, 0.02, 1, Worse, "", false},
		{"more of lower", around(1.5, 0.02, 8), metric.Lower, 0.02, 1, Worse, "", false},
		{"more of higher", around(1.5, 0.02, 8), metric.Higher, 0.02, 1, Better, "", false},
		{"no direction", around(1.5, 0.02, 8), "", 0.02, 1, CannotTell, "neither higher nor lower is better", false},
		{"inside the margin", around(1.001, 0.005, 8), metric.Lower, 0.02, 1, Equivalent, "", false},
		{"sure, but within the margin", around(1.01, 0.002, 8), metric.Lower, 0.02, 1, Equivalent, "", false},
		{"a noisy machine makes nothing equal", around(1.03, 0.02, 8), metric.Lower, 0.3, 1, CannotTell, "within ±30 %, by which the baseline differs from itself (A/A)", false},
		{"across the bound", around(1.03, 0.05, 8), metric.Lower, 0.02, 1, CannotTell, "overlaps the margin of ±2 %", true},
		{"large, noisy machine", around(1.2, 0.05, 8), metric.Lower, 0.25, 1, CannotTell, "the interval overlaps ±25 %", false},
		{"five blocks", around(0.5, 0.01, 5), metric.Lower, 0.02, 1, CannotTell, "5 blocks are too few to reach p ≤ 0.05", true},
		{"six blocks", around(0.5, 0.01, 6), metric.Lower, 0.02, 1, Better, "", false},
		{"others of the family as large", around(0.5, 0.01, 6), metric.Lower, 0.02, 2, CannotTell, "the adjusted p of 0.0625 is above 0.05", true},
	}
	for _, c := range cases {
		b := &Pending{
			Comparison: Comparison{Metric: "m", Ratios: c.ratios, Blocks: len(c.ratios), Method: StepDown, Bound: c.bound, Level: cells.Level},
			Better:     c.better, Margin: 0.02,
		}
		for block, r := range c.ratios {
			b.Pairs.add(block, r)
		}
		e, _ := b.Pairs.Estimate()
		b.Ratio, b.Low, b.High, b.P = e.Point, e.Low, e.High, stat.SignFlip(b.Pairs.Effects)
		b.Adjusted = min(1, b.P*c.factor)
		b.Judge()
		b.decide(outlook{})
		if b.Verdict != c.want || !strings.Contains(b.Reason, c.reason) || (c.reason == "") != (b.Reason == "") || (b.NeedsMore > len(c.ratios)) != c.needs || (b.Decides != "") != (c.want == CannotTell) {
			t.Errorf("%s: %s, %q, needs %d (interval %.4g–%.4g, p %.3g); want %s, %q",
				c.name, b.Verdict, b.Reason, b.NeedsMore, b.Low, b.High, b.Adjusted, c.want, c.reason)
		}
	}
}
