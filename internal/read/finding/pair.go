package finding

import (
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
)

// pairs are the within-block ratios of one metric, rising by block.
type pairs struct {
	blocks  []int
	ratios  []float64
	effects []float64 // 0 where nothing differs: the ratios' logarithms
	plain   bool      // a ratio may be 0, so the effects are the ratios less 1
	value   float64   // the mean ratio's numerator and denominator over these blocks; 0 when there are none
	base    float64
	partial bool // one of the two has more blocks
	zeros   int  // blocks in which a figure is 0, for which there are no ratios at all
}

// pair divides an arm's values by a base's, block by block, over the blocks
// where both have a valid trial. A block's value is the geometric mean of an
// arm's appearances in it, so the baseline's is of two trials.
func (s *dataset) pair(cell, metric, arm, base string) pairs {
	return divide(poolOf(s.trials(cell, arm), metric), poolOf(s.trials(cell, base), metric))
}

// pairRepeats divides the baseline's repeat by its first appearance.
func (s *dataset) pairRepeats(cell, metric, base string) pairs {
	appearance := func(repeat bool) *pool {
		return poolOf(func(yield func(*Trial) bool) {
			for t := range s.trials(cell, base) {
				if t.Repeat == repeat && !yield(t) {
					return
				}
			}
		}, metric)
	}
	return divide(appearance(true), appearance(false))
}

// add enters a block's ratio; false for one that is no positive finite number.
func (p *pairs) add(block int, ratio float64) bool {
	if !usable(ratio) {
		return false
	}
	p.blocks = append(p.blocks, block)
	p.ratios = append(p.ratios, ratio)
	p.effects = append(p.effects, math.Log(ratio))
	return true
}

// estimate returns the mean ratio with its interval, kept finite; false for fewer
// than two blocks.
func (p pairs) estimate() (stat.Estimate, bool) { return p.estimateAt(Level) }

// estimateAt is estimate with an interval of confidence 1 − level.
func (p pairs) estimateAt(level float64) (stat.Estimate, bool) {
	if p.plain {
		e, ok := stat.MeanAt(p.ratios, level)
		e.Low = max(e.Low, 0) // no figure lies below
		return e, ok
	}
	e, ok := stat.GeometricMeanAt(p.ratios, level)
	e.Low, e.High = max(e.Low, 1/math.MaxFloat64), min(e.High, math.MaxFloat64)
	return e, ok
}

// noise compares the baseline with its own repeat, in every cell and on every
// metric that has a direction or is declared primary. Nothing differs there, so
// the part of a difference that the interval cannot explain is this run's bias,
// and no comparison may claim less. The width of the interval is not part of
// it: the spread of the trials is in each comparison's own interval already.
func (s *dataset) noise() []Noise {
	var all []Noise
	base := s.header.Study.Compare.Baseline
	for _, cell := range s.cells {
		for _, m := range metric.All() {
			if m.Better == "" && !s.primary(m.Name) {
				continue
			}
			p := s.pairRepeats(cell, m.Name, base)
			e, ok := p.estimate()
			if !ok {
				continue
			}
			all = append(all, Noise{
				Cell: cell, Metric: m.Name, Ratio: e.Point, Low: e.Low, High: e.High, Ratios: p.ratios, In: p.blocks,
				Bound: max(e.Low, 1/e.High, 1) - 1, P: stat.SignFlip(p.effects),
			})
		}
	}
	return all
}

func (s *dataset) primary(metric string) bool {
	return slices.Contains(s.header.Study.Compare.Primary, metric)
}
