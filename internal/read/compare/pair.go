package compare

import (
	"iter"
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
)

// Pairs are the within-block ratios of one metric, rising by block.
type Pairs struct {
	Blocks               []int
	Ratios               []float64
	Effects              []float64 // 0 where nothing differs: the ratios' logarithms
	plain                bool      // a ratio may be 0, so the effects are the ratios less 1
	Value                float64   // the mean ratio's numerator and denominator over these blocks; 0 when there are none
	Base                 float64
	atLeast, baseAtLeast bool // Value or Base is a lower bound
	partial              bool // one of the two has more blocks
	zeros                int  // blocks in which a figure is 0, for which there are no ratios at all
	beside               contrast
}

// PairUp divides an arm's values by a base's, block by block, over the blocks
// where both have a valid trial; of tails over those that others left quiet. A block's value
// is the geometric mean of an arm's appearances in it, so the baseline's is of two trials.
func PairUp(s *cells.Dataset, cell, metric, arm, base string) Pairs {
	ours, theirs := s.TrialsOf(cell, arm), s.TrialsOf(cell, base)
	if quiet := quietBlocks(metric, ours, theirs); quiet != nil {
		p := Divide(cells.PoolOf(within(quiet, ours), metric), cells.PoolOf(within(quiet, theirs), metric))
		p.partial, p.beside.quiet = true, true
		return p
	}
	p := Divide(s.Pool(cell, arm, metric), s.Pool(cell, base, metric))
	p.atEqualShares(metric, ours, theirs)
	return p
}

// pairRepeats divides the baseline's repeat by its first appearance.
func pairRepeats(s *cells.Dataset, cell, metric, base string) Pairs {
	appearance := func(repeat bool) iter.Seq[*trial.Trial] {
		return func(yield func(*trial.Trial) bool) {
			for t := range s.TrialsOf(cell, base) {
				if t.Repeat == repeat && !yield(t) {
					return
				}
			}
		}
	}
	p := Divide(cells.PoolOf(appearance(true), metric), cells.PoolOf(appearance(false), metric))
	p.atEqualShares(metric, appearance(true), appearance(false))
	return p
}

// addRatio enters a block's ratio; false for one that is no positive finite number.
func (p *Pairs) addRatio(block int, ratio float64) bool {
	if !cells.Usable(ratio) {
		return false
	}
	p.Blocks = append(p.Blocks, block)
	p.Ratios = append(p.Ratios, ratio)
	p.Effects = append(p.Effects, math.Log(ratio))
	return true
}

// grow makes room for n ratios.
func (p *Pairs) grow(n int) {
	if n > 0 {
		p.Blocks, p.Ratios, p.Effects = make([]int, 0, n), make([]float64, 0, n), make([]float64, 0, n)
	}
}

// Estimate returns the mean ratio with its interval, kept finite; false for fewer
// than two blocks.
func (p Pairs) Estimate() (stat.Estimate, bool) { return p.EstimateAt(cells.Level) }

// EstimateAt is Estimate with an interval of confidence 1 − level.
func (p Pairs) EstimateAt(level float64) (stat.Estimate, bool) {
	u, ok := p.Mean()
	b := Pending{Pairs: p, Effect: u}
	b.judgeAt(level)
	return stat.Estimate{Point: b.Ratio, Low: b.Low, High: b.High}, ok
}

// Divide returns the ratios of a to b within the blocks that both have. Where a
// figure there is 0 there are none at all: 0 has no logarithm, and the ratios of
// the other blocks alone would be a choice among them.
func Divide(a, b *cells.Pool) Pairs {
	var p Pairs
	partial := false
	if common := slices.DeleteFunc(a.Rising(), func(block int) bool { return len(b.Of(block)) == 0 }); len(common) > 0 {
		partial = len(common) < max(a.Count(), b.Count())
		a, b = a.Over(common), b.Over(common)
	}
	blocks := a.Rising()
	p.grow(len(blocks))
	over, under := make([]float64, 0, len(blocks)), make([]float64, 0, len(blocks))
	for _, block := range blocks {
		if len(b.Of(block)) == 0 {
			continue
		}
		x, ok := a.Log(block)
		y, both := b.Log(block)
		if !ok || !both {
			p.zeros++
			continue
		}
		if p.addRatio(block, math.Exp(x-y)) {
			over, under = append(over, x), append(under, y)
		}
	}
	switch {
	case p.zeros > 0:
		return Pairs{zeros: p.zeros}
	case len(over) == 0:
		p = Pairs{}
	}
	p.atLeast, p.baseAtLeast = a.Bounds > 0, b.Bounds > 0
	p.partial = partial || len(over) < max(a.Count(), b.Count())
	if len(over) > 0 {
		p.Value, p.Base = cells.Finite(math.Exp(stat.Mean(over))), cells.Finite(math.Exp(stat.Mean(under)))
	}
	return p
}

// ByBlock returns the effects by block.
func (p Pairs) ByBlock() map[int]float64 {
	effects := map[int]float64{}
	for i, block := range p.Blocks {
		effects[block] = p.Effects[i]
	}
	return effects
}

// BoundsOf returns the A/A bounds by cell and metric.
func BoundsOf(noise []Noise) map[[2]string]float64 {
	bounds := map[[2]string]float64{}
	for _, n := range noise {
		bounds[[2]string{n.Cell, n.Metric}] = n.Bound
	}
	return bounds
}

// MeasureNoise compares the baseline with its own repeat, in every cell and on every
// metric that has a direction or is declared primary. Nothing differs there, so
// the part of a difference that the interval cannot explain is this run's bias,
// and no comparison may claim less. The width of the interval is not part of
// it: the spread of the trials is in each comparison's own interval already.
func MeasureNoise(s *cells.Dataset) []Noise {
	return cells.EachCell(s, func(cell string) []Noise { return noiseIn(s, cell) })
}

func noiseIn(s *cells.Dataset, cell string) []Noise {
	var all []Noise
	base := s.Compare.Baseline
	if !slices.ContainsFunc(s.Of(cell, base), func(v *trial.Judged) bool { return v.Plan.Repeat }) {
		return nil
	}
	for _, m := range metric.All() {
		if m.Better == "" && !s.Primary(m.Name) {
			continue
		}
		p := pairRepeats(s, cell, m.Name, base)
		e, ok := p.Estimate()
		if !ok {
			continue
		}
		all = append(all, Noise{
			Cell: cell, Metric: m.Name, Ratio: e.Point, Low: e.Low, High: e.High, Ratios: p.Ratios, In: p.Blocks,
			Bound: max(e.Low, 1/e.High, 1) - 1, P: stat.SignFlip(p.Effects),
		})
	}
	return all
}
