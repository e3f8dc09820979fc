package stat

import (
	"math"
	"math/rand/v2"
	"sort"
)

// Limits of StepDown.
const (
	jointExact = 16     // blocks up to which every assignment of signs is tried
	jointDraws = 50_000 // random assignments above
)

// StepDown returns p values adjusted for a family of declared comparisons.
// rows holds one comparison each, columns are blocks, and NaN marks a block
// that a comparison does not have. Whole blocks change sign together, so what
// the comparisons have in common (the baseline, the block's drift) stays in
// common; each |t| is held against the largest |t| of all comparisons not yet
// decided. The chance of even one false difference stays below the level, as
// with Holm, but the least p is 2/2ⁿ for any size of family, where Holm's is
// that times the size: few blocks can settle many comparisons.
//
// It assumes that the differences of a block are symmetric about 0 together
// when nothing differs, as those of logarithms of like trials nearly are.
//
// Source: P. Westfall and S. Young, Resampling-Based Multiple Testing, 1993,
// algorithm 4.1 (free step-down maxT); J. Romano and M. Wolf, Exact and
// approximate stepdown methods for multiple hypothesis testing, JASA 2005.
func StepDown(rows [][]float64) []float64 {
	adjusted := make([]float64, len(rows))
	if len(rows) == 0 {
		return adjusted
	}
	blocks := len(rows[0])
	signs := make([]float64, blocks)
	for i := range signs {
		signs[i] = 1
	}
	observed := make([]float64, len(rows))
	order := make([]int, len(rows)) // by falling |t|
	for i, row := range rows {
		observed[i], order[i] = studentized(row, signs), i
	}
	sort.SliceStable(order, func(a, b int) bool { return observed[order[a]] > observed[order[b]] })

	reached := make([]int, len(rows))
	tried := 0
	eachAssignment(signs, func() {
		tried++
		largest := 0.0
		for rank := len(order) - 1; rank >= 0; rank-- {
			i := order[rank]
			largest = max(largest, studentized(rows[i], signs))
			if largest >= observed[i]*(1-1e-9) {
				reached[i]++
			}
		}
	})
	highest := 0.0
	for _, i := range order {
		highest = max(highest, float64(reached[i])/float64(tried))
		adjusted[i] = highest
	}
	return adjusted
}

// studentized returns |t| of a row under an assignment of signs; 0 with fewer
// than two values, +Inf when they do not vary.
func studentized(row, signs []float64) float64 {
	n, sum, scale, squares := 0.0, 0.0, 0.0, 0.0
	for b, x := range row {
		if !math.IsNaN(x) {
			n++
			sum += signs[b] * x
			scale += math.Abs(x)
			squares += x * x
		}
	}
	// What is left of a sum after rounding is nothing, as in SignFlip.
	if n < 2 || math.Abs(sum) <= 1e-9*scale {
		return 0
	}
	mean := sum / n
	variance := (squares - n*mean*mean) / (n - 1)
	if variance <= 1e-18*squares {
		return math.Inf(1)
	}
	return math.Abs(mean) / math.Sqrt(variance/n)
}

// eachAssignment calls visit with signs set to every assignment, or to many
// random ones and the given one. The last sign stays: the other half mirrors
// this one.
func eachAssignment(signs []float64, visit func()) {
	if len(signs) <= jointExact {
		for word := range 1 << max(0, len(signs)-1) {
			for b := range len(signs) - 1 {
				signs[b] = 1 - 2*float64(word>>b&1)
			}
			visit()
		}
		return
	}
	visit()
	rng := rand.New(rand.NewPCG(uint64(len(signs)), 0x6a6f696e74))
	for range jointDraws {
		for b := range signs {
			signs[b] = 1 - 2*float64(rng.Uint64()&1)
		}
		visit()
	}
}
