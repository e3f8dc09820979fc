package claim

import (
	"cmp"
	"fmt"
	"math"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// judge decides one condition of a claim. The condition holds where its interval lies
// wholly where the claim is true, and fails where it lies wholly elsewhere: "at least 2
// times" holds at 2.1–2.4, fails at 1.2–1.5, and is open at 1.9–2.2. A ratio that has a
// verdict is judged by the verdict's interval. For any other ratio, holding is judged by
// an interval at level, as every condition of the claim must hold, and failing by the
// wider one at strict, as one failed condition of several is enough. The wider interval
// is printed unless the condition holds.
func (e *Evidence) judge(p record.ClaimPart, level, strict float64) {
	e.Blocks, e.State = len(e.effects), Undecided
	least := cmp.Or(e.least, compare.LeastBlocks(level))
	if e.judged > 0 {
		level, strict = e.judged, e.judged
	}
	u, ok := stat.MeanOf(e.effects)
	if e.Blocks == 1 {
		u.Point = e.effects[0]
	}
	holds, surely := u.At(level), u.At(strict)
	e.print(surely, strict)
	switch {
	case e.refusal != "":
		e.Reason = e.refusal
		return
	case !ok || e.Blocks < least:
		e.NeedsMore = compare.InAll(least, e.Blocks, e.Of)
		e.Reason = fmt.Sprintf("%d %s have all figures, and at least %d are needed", e.Blocks, e.replicates(), least)
		return
	case !e.Known():
		e.Reason = compare.FarApart
		return
	}
	within, beyond := e.bounds(p)
	switch {
	case within <= holds.Low && holds.High <= beyond:
		e.State = Holds
		e.print(holds, level)
	case surely.High < within || surely.Low > beyond:
		e.State = DoesNotHold
		e.Reason = wayOf(p, surely)
	default:
		e.Reason = "the interval contains a bound of the claim; " + e.decides(u.Point, within, beyond)
	}
}

// print takes over an interval of logarithms.
func (e *Evidence) print(log stat.Estimate, level float64) {
	switch {
	case e.Blocks > 0 && e.plain():
		e.Ratio, e.Low, e.High, e.Interval = cells.Finite(log.Point), cells.Finite(log.Low), cells.Finite(log.High), level
	case e.Blocks > 0:
		e.Ratio, e.Low, e.High, e.Interval = compare.Bounded(log.Point), compare.Bounded(log.Low), compare.Bounded(log.High), level
	}
}

// Known tells whether the ratio is shown with its interval.
func (e *Evidence) Known() bool {
	if e.plain() {
		return e.Blocks >= leastProbes
	}
	return cells.Known(e.Blocks, e.Ratio, e.Low, e.High)
}

// replicates names what an evidence's numbers come from.
func (e *Evidence) replicates() string {
	if e.Form == Share || e.Form == Points {
		return "probes"
	}
	return "blocks"
}

// decides says what would decide a condition that is open: the blocks at which the
// interval is expected to lie clear of the bound nearest to the mean.
func (e *Evidence) decides(mean, within, beyond float64) string {
	distance := min(math.Abs(mean-within), math.Abs(beyond-mean))
	if e.replicates() == "probes" {
		return "more probes=… would narrow it"
	}
	bounds := stat.Bounds{Shared: max(1, int(math.Round(cells.Level/e.Interval)))}
	e.NeedsMore = compare.InAll(stat.BlocksToSettle(distance, stat.SD(e.effects), bounds, max(compare.LeastBlocks(cells.Level), e.Blocks+1)), e.Blocks, e.Of)
	if e.NeedsMore == 0 {
		return fmt.Sprintf("it lies so near that %d blocks would not decide", stat.MaxBlocks)
	}
	return fmt.Sprintf("about %d blocks would decide", e.NeedsMore)
}

// wayOf says of a claimed size that is not found whether its direction is.
func wayOf(p record.ClaimPart, log stat.Estimate) string {
	if p.Is != record.Sized || p.Of == 1 {
		return ""
	}
	switch claimed := math.Log(p.Of); {
	case log.Low*claimed > 0 && log.High*claimed > 0:
		return "the direction holds, the size does not"
	case log.Low*claimed < 0 && log.High*claimed < 0:
		return "it is the other way round"
	}
	return "not even the direction can be told"
}

// bounds returns between which effects a part of a claim is true: logarithms, or of a plain
// number the number itself.
func (e *Evidence) bounds(p record.ClaimPart) (from, to float64) {
	margin := math.Log1p(p.Margin)
	size := math.Log(p.Of)
	if e.plain() {
		margin, size = math.SmallestNonzeroFloat64, p.Of // no difference at all is none
	}
	switch p.Is {
	case record.Above:
		return size, math.Inf(1)
	case record.Below:
		return math.Inf(-1), size
	case record.Near:
		if e.plain() {
			return p.Of / (1 + p.Margin), p.Of * (1 + p.Margin)
		}
		return size - margin, size + margin
	case record.Higher:
		return margin, math.Inf(1)
	case record.Lower:
		return math.Inf(-1), -margin
	case record.Sized:
		return math.Log(p.Of) - margin, math.Log(p.Of) + margin
	case record.Steadier:
		return 0, math.Inf(1)
	}
	return -margin, margin
}

// slack is how far the interval stays from the nearer bound of the claim.
func (e *Evidence) slack(p record.ClaimPart) float64 {
	from, to := e.bounds(p)
	if e.plain() {
		return min(e.Low-from, to-e.High)
	}
	return min(math.Log(e.Low)-from, to-math.Log(e.High))
}

// claimed says what a part of a claim asks of its number.
func (e *Evidence) claimed(p record.ClaimPart) string {
	if e.Form != Ratio {
		return e.claimedOf(p)
	}
	switch p.Is {
	case record.Higher:
		return "above " + quantity.FormatFigure(1+p.Margin) + "×"
	case record.Lower:
		return "below " + quantity.FormatFigure(1/(1+p.Margin)) + "×"
	case record.Sized:
		return "within " + quantity.FormatShare(p.Margin) + " of " + quantity.FormatFigure(p.Of) + "×"
	case record.Steadier:
		return "above 1×"
	}
	return "within " + quantity.FormatShare(p.Margin) + " of 1"
}
