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

// pending is a declared comparison with some ratios by block and a margin of 2 %.
func pending(ratios []float64, bound float64) *Pending {
	b := &Pending{
		Comparison: Comparison{Metric: "m", Ratios: ratios, Blocks: len(ratios), Of: len(ratios), Bound: bound, Level: cells.Level},
		Better:     metric.Lower, Margin: 0.02,
	}
	for block, r := range ratios {
		b.Pairs.addRatio(block, r)
	}
	b.Effect, _ = stat.MeanOf(b.Pairs.Effects)
	return b
}

func TestVerdictRule(t *testing.T) {
	cases := []struct {
		name   string
		ratios []float64
		better string
		bound  float64
		others int // of its family, all open
		want   Verdict
		reason string
		needs  bool
	}{
		{"lower is better", around(0.6, 0.02, 8), metric.Lower, 0.02, 0, Better, "", false},
		{"higher is better", around(0.6, 0.02, 8), metric.Higher, 0.02, 0, Worse, "", false},
		{"more of lower", around(1.5, 0.02, 8), metric.Lower, 0.02, 0, Worse, "", false},
		{"more of higher", around(1.5, 0.02, 8), metric.Higher, 0.02, 0, Better, "", false},
		{"no direction", around(1.5, 0.02, 8), "", 0.02, 0, CannotTell, "neither higher nor lower is better", false},
		{"inside the margin", around(1.001, 0.005, 8), metric.Lower, 0.02, 0, Equivalent, "", false},
		{"sure, but within the margin", around(1.01, 0.002, 8), metric.Lower, 0.02, 0, Equivalent, "", false},
		{"a noisy machine makes nothing equal", around(1.03, 0.02, 8), metric.Lower, 0.3, 0, CannotTell, "within ±30 %, by which the baseline differs from itself (A/A)", false},
		{"across the bound", around(1.03, 0.05, 8), metric.Lower, 0.02, 0, CannotTell, "overlaps the margin of ±2 %", true},
		{"large, noisy machine", around(1.2, 0.05, 8), metric.Lower, 0.25, 0, CannotTell, "the interval overlaps ±25 %", false},
		{"five blocks", around(0.5, 0.01, 5), metric.Lower, 0.02, 0, CannotTell, "5 blocks are too few: at least 6 are needed", true},
		{"a wild block", append(around(2, 0.01, 5), 2000), metric.Lower, 0.02, 0, CannotTell, "spans more than a factor of ten", true},
		{"six blocks", around(0.5, 0.01, 6), metric.Lower, 0.02, 0, Better, "", false},
		{"alone", around(0.9, 0.06, 6), metric.Lower, 0.02, 0, Better, "", false},
		{"one of six that are open", around(0.9, 0.06, 6), metric.Lower, 0.02, 5, CannotTell, "overlaps the margin of ±2 %", true},
		{"inside the margin, of six", around(1.001, 0.005, 8), metric.Lower, 0.02, 5, Equivalent, "", false},
	}
	for _, c := range cases {
		b := pending(c.ratios, c.bound)
		b.Better = c.better
		family := []*Pending{b}
		for range c.others {
			family = append(family, pending(around(1.02, 0.1, 8), c.bound))
		}
		ShareLevel(family)
		b.Judge()
		b.decide(outlook{})
		if b.Verdict != c.want || !strings.Contains(b.Reason, c.reason) || (c.reason == "") != (b.Reason == "") || (b.NeedsMore > len(c.ratios)) != c.needs || (b.Decides != "") != (c.want == CannotTell) {
			t.Errorf("%s: %s, %q, needs %d (interval %.4g–%.4g, p %.3g); want %s, %q",
				c.name, b.Verdict, b.Reason, b.NeedsMore, b.Low, b.High, b.Adjusted, c.want, c.reason)
		}
	}
}
