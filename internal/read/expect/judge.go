package expect

import (
	"cmp"
	"fmt"
	"math"

	"netdyno/internal/condition"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
)

// leastProbes is the number of profiled trials from which a share has an interval, by
// Student's t: the sign flip that blocks must allow has no place where a study has three.
const leastProbes = 3

// leastShown is the number of blocks from which a figure has an interval that is shown.
const leastShown = 3

// judge decides each evidence of a condition and returns what becomes of the condition.
// All of a statement's evidence must hold, so holding is judged at the whole level, and
// failing, of which one is enough, at the level divided by their number. Of the arms of
// a best(…) one is enough to hold, so each has its part of the level either way.
func (r *Result) judge(c condition.Condition, own []Evidence) State {
	level, strict, order := r.Level, r.Level/float64(max(1, len(r.Evidence))), allOf
	least := compare.LeastBlocks(level)
	switch {
	case c.Form == condition.Least: // a search, whose shares have the intervals of figures
		level, strict, order, least = cells.Level, cells.Level, anyOf, leastShown
	case c.Of.Best && len(own) > 0:
		level, order = level/float64(len(own)), anyOf
	}
	var states []State
	for i := range own {
		own[i].judge(c, cmp.Or(own[i].least, least), level, strict)
		states = append(states, own[i].State)
	}
	return first(order, states)
}

// judge decides one condition. It holds where its interval lies wholly where it is true,
// and fails where it lies wholly elsewhere: "at least 2 times" holds at 2.1–2.4, fails at
// 1.2–1.5, and is open at 1.9–2.2. A ratio that has a verdict is judged by the verdict's
// interval. The wider interval, at strict, is printed unless the condition holds.
func (e *Evidence) judge(c condition.Condition, least int, level, strict float64) {
	e.Blocks, e.State = len(e.effects), Undecided
	if e.judged > 0 {
		level, strict = e.judged, e.judged
	}
	u, ok := stat.MeanOf(e.effects)
	if e.effect.Degrees > 0 {
		u = e.effect
	}
	if e.Blocks == 1 {
		u.Point = e.effects[0]
	}
	holds, surely := u.At(level), u.At(strict)
	e.print(surely, strict)
	from, to := e.bounds(c)
	switch {
	case e.untestable:
		e.State, e.Reason = NotTestable, e.refusal
	case e.refusal != "":
		e.Reason = e.refusal
	case !ok || e.Blocks < least:
		e.NeedsMore = compare.InAll(least, e.Blocks, e.Of)
		e.Reason = fmt.Sprintf("%d %s have all figures, and at least %d are needed", e.Blocks, e.replicates(), least)
	case !e.Known():
		e.Reason = compare.FarApart
	case from <= holds.Low && holds.High <= to:
		e.State = Holds
		e.print(holds, level)
	case surely.High < from || surely.Low > to:
		e.State, e.Reason = DoesNotHold, wayOf(c, surely)
	default:
		e.Reason = "the interval contains a bound; " + e.decides(u.Point, from, to)
	}
}

// bounds returns between which effects a condition is true: logarithms, or of a plain
// form the number itself.
func (e *Evidence) bounds(c condition.Condition) (from, to float64) {
	size, margin := math.Log(c.Size), math.Log1p(c.Margin)
	if e.plain() {
		size, margin = c.Size, math.SmallestNonzeroFloat64 // no difference at all is none
	}
	switch {
	case e.Form == Coefficient:
		return min(e.size/(1+c.Margin), e.size*(1+c.Margin)), max(e.size/(1+c.Margin), e.size*(1+c.Margin))
	case e.Form == Points:
		size = 0
	case c.Form == condition.Spread:
		margin = 0
	}
	switch c.Is {
	case condition.AtLeast:
		return size, math.Inf(1)
	case condition.AtMost:
		return math.Inf(-1), size
	case condition.More:
		return size + margin, math.Inf(1)
	case condition.Less:
		return math.Inf(-1), size - margin
	}
	return size - margin, size + margin
}

// print takes over an interval of effects.
func (e *Evidence) print(x stat.Estimate, level float64) {
	number := compare.Bounded
	if e.plain() {
		number = cells.Finite
	}
	if e.Blocks > 0 {
		e.Value, e.Low, e.High, e.Interval = number(x.Point), number(x.Low), number(x.High), level
	}
}

// plain tells whether an evidence's effects are the numbers themselves, not logarithms.
func (e *Evidence) plain() bool { return e.Form == Share || e.Form == Points || e.Form == Coefficient }

// Known tells whether the number is shown with its interval.
func (e *Evidence) Known() bool {
	if e.plain() {
		return e.Blocks >= leastProbes
	}
	return cells.Known(e.Blocks, e.Value, e.Low, e.High)
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
func (e *Evidence) decides(mean, from, to float64) string {
	if e.replicates() == "probes" {
		return "more probes=… would narrow it"
	}
	distance := min(math.Abs(mean-from), math.Abs(to-mean))
	bounds := stat.Bounds{Shared: max(1, int(math.Round(cells.Level/e.Interval)))}
	e.NeedsMore = compare.InAll(stat.BlocksToSettle(distance, stat.SD(e.effects), bounds, max(compare.LeastBlocks(cells.Level), e.Blocks+1)), e.Blocks, e.Of)
	if e.NeedsMore == 0 {
		return fmt.Sprintf("it lies so near that %d blocks would not decide", stat.MaxBlocks)
	}
	return fmt.Sprintf("about %d blocks would decide", e.NeedsMore)
}

// wayOf says of a size that is not found whether its direction is.
func wayOf(c condition.Condition, log stat.Estimate) string {
	if c.Is != condition.Equal || c.Size == 1 || len(c.Base.Arms) == 0 {
		return ""
	}
	switch claimed := math.Log(c.Size); {
	case log.Low*claimed > 0 && log.High*claimed > 0:
		return "the direction holds, the size does not"
	case log.Low*claimed < 0 && log.High*claimed < 0:
		return "it is the other way round"
	}
	return "not even the direction can be told"
}
