package compare

import (
	"maps"
	"math"
	"slices"

	"netdyno/internal/read/stat"
)

// StepDown is the method by which p values of a family are adjusted.
const StepDown = "step-down sign flip"

// AdjustStepDown adjusts declared comparisons together, block by block.
func AdjustStepDown(family []*Pending) []float64 {
	blocks := map[int]int{} // column by block
	for _, b := range family {
		for _, block := range b.Pairs.Blocks {
			blocks[block] = 0
		}
	}
	for column, block := range slices.Sorted(maps.Keys(blocks)) {
		blocks[block] = column
	}
	rows := make([][]float64, len(family))
	for i, b := range family {
		rows[i] = slices.Repeat([]float64{math.NaN()}, len(blocks))
		for k, block := range b.Pairs.Blocks {
			rows[i][blocks[block]] = b.Pairs.Effects[k]
		}
	}
	return stat.StepDown(rows)
}

// AdjustFamily fills in the adjusted p of a family: every comparison that has a p,
// whether or not a verdict is refused for another reason.
func AdjustFamily(family []*Pending, method string, by func([]*Pending) []float64) {
	var tested []*Pending
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

// AdjustPs adjusts by the p values alone.
func AdjustPs(by func([]float64) []float64) func([]*Pending) []float64 {
	return func(family []*Pending) []float64 {
		ps := make([]float64, len(family))
		for i, b := range family {
			ps[i] = b.P
		}
		return by(ps)
	}
}
