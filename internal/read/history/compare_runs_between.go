package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
)

// DefaultSpread is the standard deviation, of a natural logarithm, that a figure of equal
// runs is taken to have where no calibration knows it: two such runs differ by up to 6 %.
const DefaultSpread = 0.02

// spread is by what a figure of equal runs differs, as a standard deviation of its
// logarithm.
type spread struct {
	sd, degrees float64
	measured    bool // by a calibration
}

// apart is the share by which 19 of 20 pairs of equal runs differ at most.
func (s spread) apart() float64 {
	return math.Expm1(stat.TBeyond(s.degrees, (1-stat.Confidence)/2) * math.Sqrt2 * s.sd)
}

// assumed has so many degrees of freedom that Student's t is the normal distribution.
const assumed = 1e6

// between is the spread of a metric, relative to the floor or not: a calibration's; else the
// larger of DefaultSpread and how far the rounds of each run, whose logarithms these are,
// lie apart.
func (a *runPair) between(name string, relative bool, was, is []float64) spread {
	if a.calibration != nil {
		if s, known := a.calibration.Spreads[name]; known {
			sd := s.Absolute
			if relative {
				sd = s.Relative
			}
			return spread{sd, float64(s.Runs - 1), true}
		}
	}
	squares, degrees := 0.0, 0.0
	for _, run := range [][]float64{was, is} {
		if rounds := stat.Rounds(run, shortRun); len(rounds) >= 2 {
			free := float64(len(rounds) - 1)
			squares, degrees = squares+free*stat.SD(rounds)*stat.SD(rounds), degrees+free
		}
	}
	if own := math.Sqrt(squares / max(degrees, 1)); own > DefaultSpread {
		return spread{own, degrees, false}
	}
	return spread{DefaultSpread, assumed, false}
}

// comparedKey is a comparison by its cell, metric and arm.
type comparedKey struct{ cell, metric, arm string }

func keyOf(c compare.Comparison) comparedKey { return comparedKey{c.Cell, c.Metric, c.Arm} }

// sentence answers in one sentence, of the comparison that decides: what is worse, else what
// stays open, else what changed most.
func (a *runPair) sentence() string {
	rank := func(g compare.Gated) int {
		switch {
		case g.Result == compare.IsWorse:
			return 0
		case g.Result == compare.NoWorse:
			return 4
		case g.Ratio == 0: // nothing was measured
			return 3
		case g.Verdict.Refused():
			return 2
		}
		return 1
	}
	said := slices.SortedStableFunc(slices.Values(a.result.Gated), func(x, y compare.Gated) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(math.Abs(math.Log(y.Ratio)), math.Abs(math.Log(x.Ratio))))
	})
	switch {
	case a.barred != "" && (len(said) == 0 || !said[0].Comparison.Known()):
		return "Cannot tell: " + a.barred + "."
	case len(said) == 0:
		return "Cannot tell: the runs judge nothing in common."
	}
	c := said[0]
	what := fmt.Sprintf("%s of %s%s", metric.Shown(c.Metric).Label, c.Arm, cells.InCell(c.Cell))
	change := fmt.Sprintf("%s is %s (%s)", what, shareOf(c.Ratio), shares(c.Low, c.High))
	if a.barred != "" {
		return fmt.Sprintf("Cannot tell: %s. As it stands, %s.", a.barred, change)
	}
	between, known := a.spread[keyOf(c.Comparison)]
	if !known || c.Verdict.Refused() || !c.Known() {
		return "Cannot tell: " + what + ": " + cmp.Or(c.Reason, "there is no figure of both") + "."
	}
	by := quantity.ChosenShare(rounded(between.apart())) + " by which two runs of the same differ here"
	if !between.measured {
		by += " (assumed: netdyno calibrate measures it)"
	}
	switch {
	case c.Verdict == compare.Worse || c.Verdict == compare.Better:
		return fmt.Sprintf("%s: %s, beyond the %s.", map[compare.Verdict]string{compare.Worse: "Worse", compare.Better: "Better"}[c.Verdict], change, by)
	case c.Result == compare.NoWorse:
		return fmt.Sprintf("No worse: %s.", change)
	}
	return fmt.Sprintf("Cannot tell: %s, not surely beyond the %s.", change, by)
}

// rounded has two digits.
func rounded(share float64) float64 {
	if share == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(math.Abs(share)))-1)
	return math.Round(share/unit) * unit
}

// shareOf is a ratio as a change: "17 % lower".
func shareOf(ratio float64) string {
	if ratio < 1 {
		return quantity.ChosenShare(rounded(1-ratio)) + " lower"
	}
	return quantity.ChosenShare(rounded(ratio-1)) + " higher"
}

// shares is an interval of ratios as changes: "−21 % to −12 %".
func shares(low, high float64) string {
	signed := func(ratio float64) string {
		if ratio < 1 {
			return "−" + quantity.ChosenShare(rounded(1-ratio))
		}
		return "+" + quantity.ChosenShare(rounded(ratio-1))
	}
	return signed(low) + " to " + signed(high)
}
