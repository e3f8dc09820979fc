package finding

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
)

// StepDown is the method by which p values of a family are adjusted.
const StepDown = "step-down sign flip"

// pending is one comparison on its way to a verdict.
type pending struct {
	Comparison
	pairs   pairs
	better  string // the metric's direction
	margin  float64
	refusal string // why no verdict may be given
	tested  bool   // it was declared, so it has a p
	mute    bool   // the look has no part of the level
	open    cause  // of a verdict that cannot be told

	required bool // it holds an arm against a bound that the study requires
}

// compare sets every arm against the baseline in every cell: first on the
// primary metrics, which form one family and are judged, then on the rest of the
// registry, which is explored and is not.
func (s *dataset) compare(noise []Noise) []Comparison {
	bounds := boundsOf(noise)
	declared, explored := s.lineUp()
	ahead := s.outlook()
	adjust(declared, StepDown, stepDown)
	var all []Comparison
	for _, b := range declared {
		b.Bound = max(b.margin, bounds[[2]string{b.Cell, b.Metric}])
		b.judge()
		b.decide(ahead)
		all = append(all, b.Comparison)
	}
	for _, b := range explored {
		b.leaveUnjudged()
		all = append(all, b.Comparison)
	}
	return all
}

// boundsOf returns the A/A bounds by cell and metric.
func boundsOf(noise []Noise) map[[2]string]float64 {
	bounds := map[[2]string]float64{}
	for _, n := range noise {
		bounds[[2]string{n.Cell, n.Metric}] = n.Bound
	}
	return bounds
}

// lineUp makes the comparisons: declared ones always, explored ones where they
// have an interval.
func (s *dataset) lineUp() (declared, explored []*pending) {
	var order []metric.Metric
	seen := map[string]bool{}
	for _, name := range s.header.Study.Compare.Primary {
		if m, err := metric.Named(name); err == nil && !seen[name] {
			seen[name] = true
			order = append(order, m)
		}
	}
	for _, m := range metric.All() {
		if m.Better != "" && !seen[m.Name] {
			order = append(order, m)
		}
	}
	base := s.header.Study.Compare.Baseline
	for _, cell := range s.cells {
		for _, m := range order {
			for _, arm := range s.arms {
				if arm == base || len(s.of(cell, arm)) == 0 {
					continue
				}
				b := s.set(cell, m, arm, base)
				switch {
				case b.Primary:
					declared = append(declared, b)
				case b.Blocks >= 2:
					explored = append(explored, b)
				}
			}
			if s.primary(m.Name) {
				declared = append(declared, s.pairsBesides(cell, m)...)
			}
		}
	}
	return declared, explored
}

// pairsBesides makes the comparisons that a study declares besides those with
// the baseline, where a cell has both arms.
func (s *dataset) pairsBesides(cell string, m metric.Metric) []*pending {
	var besides []*pending
	for _, p := range s.header.Study.Compare.Also {
		if len(s.of(cell, p.Arm)) > 0 && len(s.of(cell, p.Base)) > 0 {
			besides = append(besides, s.set(cell, m, p.Arm, p.Base))
		}
	}
	return besides
}

func (s *dataset) set(cell string, m metric.Metric, arm, base string) *pending {
	b := &pending{
		Comparison: Comparison{Cell: cell, Metric: m.Name, Arm: arm, Base: base, Primary: s.primary(m.Name), Level: s.level()},
		pairs:      s.pair(cell, m.Name, arm, base),
		better:     m.Better,
		margin:     margin(s.header.Study.Compare),
		mute:       s.mute(),
	}
	b.tested = b.Primary
	s.estimate(b)
	return b
}

// estimate fills in what the pairs of a comparison say before any other is
// looked at.
func (s *dataset) estimate(b *pending) {
	b.Ratios, b.In, b.Blocks = b.pairs.ratios, b.pairs.blocks, len(b.pairs.ratios)
	b.Value, b.BaseValue, b.Partial = b.pairs.value, b.pairs.base, b.pairs.partial
	if b.tested {
		b.P, b.Adjusted = 1, 1
	}
	if n := b.pairs.zeros; n > 0 {
		b.refusal = fmt.Sprintf("a figure is 0 in %d of the blocks that both arms have, and nothing is a multiple of 0", n)
		return
	}
	if e, ok := b.pairs.estimateAt(b.Level); ok {
		b.Ratio, b.Low, b.High = e.Point, e.Low, e.High
		if b.tested {
			b.P = stat.SignFlip(b.pairs.effects)
		}
		b.refusal = s.refuse(b)
		return
	}
	if b.Blocks == 1 && b.Arm == b.Base { // a figure beside a bound; a ratio has an interval or is none
		b.Ratio, b.Low, b.High = b.Ratios[0], b.Ratios[0], b.Ratios[0]
	}
	b.refusal = fmt.Sprintf("blocks with a valid value of both arms: %d; at least 2 are needed%s", b.Blocks, s.tooFew(b))
}

// stepDown adjusts declared comparisons together, block by block.
func stepDown(family []*pending) []float64 {
	blocks := map[int]int{} // column by block
	for _, b := range family {
		for _, block := range b.pairs.blocks {
			blocks[block] = 0
		}
	}
	for column, block := range slices.Sorted(maps.Keys(blocks)) {
		blocks[block] = column
	}
	rows := make([][]float64, len(family))
	for i, b := range family {
		rows[i] = slices.Repeat([]float64{math.NaN()}, len(blocks))
		for k, block := range b.pairs.blocks {
			rows[i][blocks[block]] = b.pairs.effects[k]
		}
	}
	return stat.StepDown(rows)
}

// adjust fills in the adjusted p of a family: every comparison that has a p,
// whether or not a verdict is refused for another reason.
func adjust(family []*pending, method string, by func([]*pending) []float64) {
	var tested []*pending
	for _, b := range family {
		b.Method = method
		if b.Blocks >= 2 {
			tested = append(tested, b)
		}
	}
	for i, p := range by(tested) {
		tested[i].Adjusted = p
	}
	for _, b := range family {
		b.Family = len(tested)
	}
}

// ofPs adjusts by the p values alone.
func ofPs(by func([]float64) []float64) func([]*pending) []float64 {
	return func(family []*pending) []float64 {
		ps := make([]float64, len(family))
		for i, b := range family {
			ps[i] = b.P
		}
		return by(ps)
	}
}
