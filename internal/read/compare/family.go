package compare

import (
	"math"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
)

// Holm is the method by which a family shares its level.
const Holm = "Holm"

// ShareLevel gives every comparison of a family the interval that decides it. A family is
// every declared comparison that has an interval, whether or not its verdict is refused
// for another reason; Bound must be set. An interval that lies inside the margin at the
// whole level stays as it is: it claims no difference. The other comparisons divide the
// level (stat.Shares), each by the number of comparisons that were not told apart before
// it: of four at 5 %, the first is judged at 1.25 %, the next, if the first was told
// apart, at 1.67 %. So the chance of even one false difference is below the level.
func ShareLevel(family []*Pending) {
	var open []*Pending
	var ps []float64
	tested := 0
	for _, b := range family {
		b.Method = Holm
		if b.Effect.Degrees == 0 {
			continue
		}
		tested++
		b.judgeAt(b.Level)
		b.P = b.Effect.Beyond(b.beyond())
		b.Adjusted, b.share = b.P, 1
		if !b.inside() {
			open, ps = append(open, b), append(ps, b.P)
		}
	}
	level := 0.0
	if len(open) > 0 {
		level = open[0].Level // the same for all of a family
	}
	for i, share := range stat.Shares(ps, level) {
		b := open[i]
		b.share, b.Adjusted = share, min(1, b.P*float64(share))
		b.judgeAt(b.Level / float64(share))
	}
	for _, b := range family {
		b.Family = tested
	}
}

// judgeAt gives the comparison its interval of confidence 1 − level.
func (b *Pending) judgeAt(level float64) {
	e := b.Effect.At(level)
	if b.Pairs.plain {
		b.Ratio, b.Low, b.High = 1+e.Point, max(1+e.Low, 0), 1+e.High // no figure lies below
	} else {
		b.Ratio, b.Low, b.High = Bounded(e.Point), Bounded(e.Low), Bounded(e.High)
	}
	b.Interval = level
}

// Bounded is the ratio of a logarithm, kept finite and above 0.
func Bounded(log float64) float64 { return min(max(math.Exp(log), 1/math.MaxFloat64), math.MaxFloat64) }

// beyond is the bound on the scale of Effect.
func (b *Pending) beyond() float64 { return math.Log1p(b.Bound) }

// inside tells whether the interval lies within the margin.
func (b *Pending) inside() bool {
	return b.Margin > 0 && b.Low >= 1/(1+b.Margin) && b.High <= 1+b.Margin
}

// outside tells whether the interval lies wholly beyond the bound.
func (b *Pending) outside() bool { return b.Low > 1+b.Bound || b.High < 1/(1+b.Bound) }

// Levels are the levels, 1 − confidence, of the intervals with which verdicts are given.
type Levels map[[4]string]float64 // by cell, metric and the two arms in order

// JudgedAt returns the levels of a run's primary comparisons.
func JudgedAt(comparisons []Comparison) Levels {
	all := Levels{}
	for _, c := range comparisons {
		if c.Primary && c.Ratio > 0 {
			all[[4]string{c.Cell, c.Metric, min(c.Arm, c.Base), max(c.Arm, c.Base)}] = c.Interval
		}
	}
	return all
}

// Of returns the level of a ratio of two arms, whichever is divided; 0 for one that
// has no verdict.
func (l Levels) Of(cell, metric, arm, base string) float64 {
	return l[[4]string{cell, metric, min(arm, base), max(arm, base)}]
}

// Between judges one declared comparison by its pairs alone, at the whole level: what a
// study of two arms without any noise of its own would say.
func Between(m metric.Metric, p Pairs, margin float64) Comparison {
	b := &Pending{
		Comparison: Comparison{Metric: m.Name, Primary: true, Level: cells.Level, Ratios: p.Ratios, In: p.Blocks, Blocks: len(p.Ratios), Of: len(p.Ratios), Value: p.Value, BaseValue: p.Base, Bound: margin, P: 1, Adjusted: 1},
		Pairs:      p, Better: m.Better, Margin: margin, Tested: true,
	}
	known := false
	if b.Effect, known = stat.MeanOf(p.Effects); !known {
		b.Refusal = "fewer than 2 blocks have both figures"
	}
	ShareLevel([]*Pending{b})
	b.Judge()
	return b.Comparison
}
