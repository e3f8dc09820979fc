package compare

import (
	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
)

// Judge gives the verdict by specification §6.3: better or worse needs an adjusted
// p ≤ its level and an interval wholly beyond the bound; equivalent an interval
// wholly inside the declared margin (inside the A/A bound is not enough: a
// noisy machine must not make everything equal).
func (b *Pending) Judge() {
	if b.Refusal != "" {
		b.Verdict, b.Reason = Invalid, b.Refusal
		if b.cannotRun {
			b.Verdict = Unsupported
		}
		return
	}
	beyond := b.Low > 1+b.Bound || b.High < 1/(1+b.Bound)
	inside := b.Low >= 1/(1+b.Margin) && b.High <= 1+b.Margin
	switch {
	case stat.MinP(b.Blocks) > b.Level:
		b.cannotTell(tooFew, "%d blocks are too few to reach p ≤ %.3g", b.Blocks, b.Level)
	case b.noVerdict:
		b.cannotTell(unlevel, "this look has no share of the significance level")
	case inside:
		b.Verdict = Equivalent
	case beyond && b.Adjusted <= b.Level && b.Better == "":
		b.cannotTell(aimless, "for %s neither higher nor lower is better", b.Metric)
	case beyond && b.Adjusted <= b.Level:
		b.Verdict = Worse
		if (b.Ratio > 1) == (b.Better == metric.Higher) {
			b.Verdict = Better
		}
	case !beyond && b.Low > 1/(1+b.Bound) && b.High < 1+b.Bound:
		b.cannotTell(tooWide, "the interval lies within ±%s, by which the baseline differs from itself (A/A), but not within the margin of ±%s",
			Percent(b.Bound), Percent(b.Margin))
	case !beyond && b.Bound > b.Margin:
		b.cannotTell(tooWide, "the interval overlaps ±%s, by which the baseline differs from itself (A/A)", Percent(b.Bound))
	case !beyond:
		b.cannotTell(tooWide, "the interval overlaps the margin of ±%s", Percent(b.Bound))
	default:
		b.cannotTell(tooWide, "the adjusted p of %.3g is above %.3g", b.Adjusted, b.Level)
	}
}

// LeaveUnjudged is what an explored comparison has in the place of a verdict. A
// reason for which its figures may not be compared stays.
func (b *Pending) LeaveUnjudged() { b.Verdict, b.Reason = NotJudged, b.Refusal }

// LeastBlocks returns how many blocks the sign flip needs before any p can
// reach a level. The adjustment leaves the least p of a clear family alone.
func LeastBlocks(level float64) int {
	n := 2
	for stat.MinP(n) > level && n < stat.MaxBlocks {
		n++
	}
	return n
}
