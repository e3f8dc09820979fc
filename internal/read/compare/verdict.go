package compare

import (
	"netdyno/internal/metric"
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
			Percent(b.Bound), Percent(b.Margin))
	case b.Bound > b.Margin:
		b.cannotTell(tooWide, "the interval overlaps ±%s, by which the baseline differs from itself (A/A)", Percent(b.Bound))
	default:
		b.cannotTell(tooWide, "the interval overlaps the margin of ±%s", Percent(b.Bound))
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
