package ladder

import (
	"fmt"
	"math"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
)

// split makes the whole and the steps of the logarithms of each arm's figures by
// block. mute says that the run stands at a look that can decide nothing.
func (p *Split) split(logs [][]float64, mute bool) {
	last := len(logs) - 1
	whole := less(logs[last], logs[0])
	effects := make([][]float64, last)
	for k := range effects {
		effects[k] = less(logs[k+1], logs[k])
	}
	p.Whole = stepOf(logs[last], logs[0], p.Level)
	p.Whole.Arm, p.Whole.Base = p.Arms[last], p.Arms[0]
	untold := mute || stat.MinP(p.Blocks) > p.Level
	p.Whole.tell(whole, p.Level, 1)
	p.Whole.Told = p.Whole.Told && !untold
	ps := make([]float64, last)
	for k := range effects {
		step := stepOf(logs[k+1], logs[k], p.Level)
		step.Arm, step.Base = p.Arms[k+1], p.Arms[k]
		if u, ok := stat.MeanOf(effects[k]); ok {
			ps[k] = u.Beyond(0)
		}
		p.Steps = append(p.Steps, step)
	}
	for k, share := range stat.Shares(ps, p.Level) {
		p.Steps[k].tell(effects[k], p.Level, share)
		p.Steps[k].Told = p.Steps[k].Told && !untold
	}
	if p.Reason = p.undivided(mute); p.Reason == "" {
		p.divide(effects, whole)
	}
}

// undivided says why the whole has no shares; "" when it has.
func (p *Split) undivided(mute bool) string {
	beyond := p.Whole.Low > 1+p.Bound || p.Whole.High < 1/(1+p.Bound)
	switch {
	case mute:
		return "this look has no share of the significance level"
	case stat.MinP(p.Blocks) > p.Level:
		return fmt.Sprintf("all arms have valid figures in %d of %d blocks, too few to tell the whole apart from 1 at the level of %.3g", p.Blocks, p.Of, p.Level)
	case !p.Whole.Told:
		return "the whole is not told apart from 1"
	case !beyond:
		return "the whole lies too near 1: equal arms may differ by " + compare.Percent(p.Bound)
	}
	return ""
}

// divide gives every step its share of the whole. Shares add up to 1.
func (p *Split) divide(effects [][]float64, whole []float64) {
	shares := make([]Part, len(effects))
	for k := range effects {
		e, ok := stat.ShareAt(effects[k], whole, p.Level)
		if !ok {
			p.Reason = "the whole is not told apart from 1"
			return
		}
		shares[k] = Part{e.Point, e.Low, e.High}
	}
	for k, share := range shares {
		p.Steps[k].Share = share
	}
	p.Whole.Share = Part{1, 1, 1}
	p.Divided = true
}

// stepOf sets the figures of one arm against another arm's in the same blocks.
func stepOf(over, under []float64, level float64) Step {
	t := Step{Value: cells.Finite(math.Exp(stat.Mean(over))), BaseValue: cells.Finite(math.Exp(stat.Mean(under)))}
	if e, ok := stat.DifferenceOfMeans(over, under, level); ok {
		t.Added = Part{cells.Finite(e.Point), cells.Finite(e.Low), cells.Finite(e.High)}
	}
	return t
}

// tell gives a step the interval that tells its ratio apart from 1, of which so many
// steps share the level (stat.Shares).
func (t *Step) tell(effects []float64, level float64, share int) {
	u, ok := stat.MeanOf(effects)
	if !ok {
		return
	}
	e := u.At(level / float64(share))
	t.Ratio, t.Low, t.High = compare.Bounded(e.Point), compare.Bounded(e.Low), compare.Bounded(e.High)
	t.P = min(1, u.Beyond(0)*float64(share))
	t.Told = (t.Low > 1 || t.High < 1) && cells.Known(len(effects), t.Ratio, t.Low, t.High)
}

// less subtracts logarithms block by block.
func less(over, under []float64) []float64 {
	d := make([]float64, len(over))
	for i := range over {
		d[i] = over[i] - under[i]
	}
	return d
}
