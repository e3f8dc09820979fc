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
	comparisons := make([]flippable, len(rows))
	observed := make([]float64, len(rows))
	order := make([]int, len(rows)) // by falling |t|
	unflipped := make([]byte, (blocks+7)/8)
	for i, row := range rows {
		comparisons[i] = newFlippable(row)
		observed[i], order[i] = comparisons[i].studentized(unflipped), i
	}
	sort.SliceStable(order, func(a, b int) bool { return observed[order[a]] > observed[order[b]] })

	reached := make([]int, len(rows))
	tried := 0
	eachAssignment(blocks, func(signs []byte) {
		tried++
		largest := 0.0
		for rank := len(order) - 1; rank >= 0; rank-- {
			i := order[rank]
			largest = max(largest, comparisons[i].studentized(signs))
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

// flippable is a comparison whose signs are changed: what does not depend on them,
// and the sums that do.
type flippable struct {
	n, scale, squares float64
	sums              [][256]float64 // see sumsOfEight
}

func newFlippable(row []float64) flippable {
	var f flippable
	there := make([]float64, len(row)) // 0 for a block that is not there
	for b, x := range row {
		if !math.IsNaN(x) {
			there[b] = x
			f.n++
			f.scale += math.Abs(x)
			f.squares += x * x
		}
	}
	f.sums = sumsOfEight(there)
	return f
}

// studentized returns |t| under an assignment of signs, eight to the byte; 0 with
// fewer than two values, +Inf when they do not vary.
func (f *flippable) studentized(signs []byte) float64 {
	sum := 0.0
	for i, eight := range signs {
		sum += f.sums[i][eight]
	}
	// What is left of a sum after rounding is nothing, as in SignFlip.
	if f.n < 2 || math.Abs(sum) <= 1e-9*f.scale {
		return 0
	}
	mean := sum / f.n
	variance := (f.squares - f.n*mean*mean) / (f.n - 1)
	if variance <= 1e-18*f.squares {
		return math.Inf(1)
	}
	return math.Abs(mean) / math.Sqrt(variance/f.n)
}

// eachAssignment calls visit with every assignment of signs to so many blocks, or
// with many random ones and the given one: bit b%8 of byte b/8 set means that block
// b is flipped. The last sign stays: the other half mirrors this one.
func eachAssignment(blocks int, visit func(signs []byte)) {
	signs := make([]byte, (blocks+7)/8)
	if blocks <= jointExact {
		for word := range 1 << max(0, blocks-1) {
			for i := range signs {
				signs[i] = byte(word >> (8 * i))
			}
			visit(signs)
		}
		return
	}
	visit(signs)
	rng := rand.New(rand.NewPCG(uint64(blocks), 0x6a6f696e74))
	for range jointDraws {
		clear(signs)
		for b := range blocks {
			signs[b/8] |= byte(rng.Uint64()&1) << (b % 8)
		}
		visit(signs)
	}
}
