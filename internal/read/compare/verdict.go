package compare

import (
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
)

// Judge gives the verdict by specification §6.3, which a reader can read off the
// printed interval: better or worse where it lies wholly beyond the bound, equivalent
// where it lies wholly inside the declared margin (inside the A/A bound is not
// enough: a noisy machine must not make everything equal), else open. Fewer blocks
// than a sign flip needs to reach the level decide nothing: so few say little of the
// shape of the noise, which Student's t takes for normal.
func (b *Pending) Judge() {
	if b.Refusal != "" {
		b.Verdict, b.Reason = Invalid, b.Refusal
		if b.cannotRun {
			b.Verdict = Unsupported
		}
		return
	}
	switch {
	case stat.MinP(b.Blocks) > b.Level:
		b.fewBlocks()
	case b.noVerdict:
		b.cannotTell(unlevel, "this look has no share of the significance level")
	case b.unknown():
		b.cannotTell(tooWide, FarApart)
	case b.inside():
		b.Verdict = Equivalent
	case b.outside() && b.Better == "":
		b.cannotTell(aimless, "for %s neither higher nor lower is better", b.Metric)
	case b.outside():
		b.Verdict = Worse
		if (b.Ratio > 1) == (b.Better == metric.Higher) {
			b.Verdict = Better
		}
	case b.Low > 1/(1+b.Bound) && b.High < 1+b.Bound && b.Bound > b.Margin:
		b.cannotTell(tooWide, "the interval lies within ±%s, by which the baseline differs from itself (A/A), but not within the margin of ±%s",
			quantity.ChosenShare(b.Bound), quantity.ChosenShare(b.Margin))
	case b.Bound > b.Margin:
		b.cannotTell(tooWide, "the interval overlaps ±%s, by which the baseline differs from itself (A/A)", quantity.ChosenShare(b.Bound))
	default:
		b.cannotTell(tooWide, "the interval overlaps the margin of ±%s", quantity.ChosenShare(b.Bound))
	}
}

// Known tells whether the ratio is shown with its interval, which every verdict needs.
func (c *Comparison) Known() bool {
	return c.Ratio > 0 && cells.Known(c.Blocks, c.Ratio, c.Low, c.High)
}

// Known tells whether the ratio is shown with its interval.
func (n *Noise) Known() bool { return cells.Known(len(n.Ratios), n.Ratio, n.Low, n.High) }

// unknown is Known of a comparison or a requirement that has a ratio. A plain one's
// figures may be 0.
func (b *Pending) unknown() bool { return !b.Pairs.plain && !b.Comparison.Known() }

func (b *Pending) fewBlocks() {
	b.cannotTell(tooFew, "%d blocks are too few: at least %d are needed", b.Blocks, LeastBlocks(b.Level))
}

// FarApart is why an interval decides nothing that is not printed, see cells.Known.
const FarApart = "the interval spans more than a factor of ten either way"

// LeaveUnjudged is what an explored comparison has in the place of a verdict. A
// reason for which its figures may not be compared stays.
func (b *Pending) LeaveUnjudged() { b.Verdict, b.Reason = NotJudged, b.Refusal }

// LeastBlocks returns how many blocks a verdict at a level needs: as many as a sign
// flip needs before any p of it can reach the level.
func LeastBlocks(level float64) int {
	n := 2
	for stat.MinP(n) > level && n < stat.MaxBlocks {
		n++
	}
	return n
}

// verdictMeans says what each verdict stands for (specification §6.3).
var verdictMeans = map[Verdict]string{
	Better:      "the whole interval lies beyond the margin and the machine's own noise, on the good side",
	Worse:       "the whole interval lies beyond the margin and the machine's own noise, on the bad side",
	Equivalent:  "the whole interval lies inside the margin: a difference, if there is one, is too small to matter",
	CannotTell:  "the interval is too wide for any of the others, or the blocks are too few; the report says what would decide it",
	Invalid:     "the figures may not be compared, for the reason given",
	Unsupported: "one of the two cannot run here, as its worker says; the cell stays empty",
	NotJudged:   "an explored comparison: it was not declared before the run, so it has a ratio and an interval but no verdict",
}

// Verdicts returns all verdicts in their order.
func Verdicts() []Verdict {
	return []Verdict{Better, Worse, Equivalent, CannotTell, Invalid, Unsupported, NotJudged}
}

// Means returns what a verdict stands for.
func (v Verdict) Means() string { return verdictMeans[v] }

// Confidence prints the confidence of an interval of some level: "95 %".
func Confidence(level float64) string { return quantity.ChosenShare(1 - level) }
