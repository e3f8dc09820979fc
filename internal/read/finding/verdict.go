package finding

import (
	"fmt"

	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
)

// judge gives the verdict by METHOD §6.3: better or worse needs an adjusted
// p ≤ its level and an interval wholly beyond the bound; equivalent an interval
// wholly inside the declared margin (inside the A/A bound is not enough: a
// noisy machine must not make everything equal).
func (b *pending) judge() {
	if b.refusal != "" {
		b.Verdict, b.Reason = Invalid, b.refusal
		return
	}
	beyond := b.Low > 1+b.Bound || b.High < 1/(1+b.Bound)
	inside := b.Low >= 1/(1+b.margin) && b.High <= 1+b.margin
	switch {
	case stat.MinP(b.Blocks) > b.Level:
		b.cannotTell(tooFew, "%d blocks cannot reach p ≤ %.3g", b.Blocks, b.Level)
	case b.mute:
		b.cannotTell(unlevel, "the look after this stage has no part of the level")
	case inside:
		b.Verdict = Equivalent
	case beyond && b.Adjusted <= b.Level && b.better == "":
		b.cannotTell(aimless, "%s has no better direction", b.Metric)
	case beyond && b.Adjusted <= b.Level:
		b.Verdict = Worse
		if (b.Ratio > 1) == (b.better == metric.Higher) {
			b.Verdict = Better
		}
	case !beyond && b.Low > 1/(1+b.Bound) && b.High < 1+b.Bound:
		b.cannotTell(tooWide, "the interval lies within this run's A/A bound of %s, but not within the margin of %s",
			percent(b.Bound), percent(b.margin))
	case !beyond:
		b.cannotTell(tooWide, "the interval reaches into the bound of %s", percent(b.Bound))
	default:
		b.cannotTell(tooWide, "adjusted p %.3g is above %.3g", b.Adjusted, b.Level)
	}
}

// leaveUnjudged is what an explored comparison has in the place of a verdict. A
// reason for which its figures may not be compared stays.
func (b *pending) leaveUnjudged() { b.Verdict, b.Reason = NotJudged, b.refusal }

func (b *pending) cannotTell(open cause, format string, args ...any) {
	b.Verdict, b.Reason, b.open = CannotTell, fmt.Sprintf(format, args...), open
}

// leastBlocks returns how many blocks the sign flip needs before any p can
// reach a level. The adjustment leaves the least p of a clear family alone.
func leastBlocks(level float64) int {
	n := 2
	for stat.MinP(n) > level && n < stat.MaxBlocks {
		n++
	}
	return n
}

func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }
