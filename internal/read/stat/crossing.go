package stat

import (
	"maps"
	"math"
	"slices"
)

// At is the differences of two curves at one place, by block.
type At struct {
	X      float64
	Blocks map[int]float64
}

// Sign is the side of 0 on which an estimate's interval lies: 1, −1, or 0 when
// the interval holds it.
func (e Estimate) Sign() int {
	switch {
	case e.Low > 0:
		return 1
	case e.High < 0:
		return -1
	}
	return 0
}

// Signs returns the interval of the mean difference at each place, of confidence
// 1 − level for all of them together (Bonferroni); false when a place has fewer
// than two blocks.
func Signs(places []At, level float64) ([]Estimate, bool) {
	all := make([]Estimate, len(places))
	for i, p := range places {
		values := make([]float64, 0, len(p.Blocks))
		for _, block := range slices.Sorted(maps.Keys(p.Blocks)) {
			values = append(values, p.Blocks[block])
		}
		e, ok := MeanAt(values, level/float64(len(places)))
		if !ok {
			return nil, false
		}
		all[i] = e
	}
	return all, true
}

// crossingSteps is how finely the way between two places is looked at.
const crossingSteps = 400

// Crossing returns where the mean difference passes 0 between places[from] and
// places[to], at which its intervals lie on different sides, and the interval of
// that place: all x at which the interval of the difference, drawn straight
// between neighbours over the logarithm of x within each block, holds 0. False
// when neighbours share fewer than two blocks or an x is not positive.
//
// Source: the inversion of a test, as in E. C. Fieller, Some problems in interval
// estimation, J. R. Stat. Soc. B 16, 1954.
func Crossing(places []At, from, to int, level float64) (Estimate, bool) {
	level /= float64(len(places))
	found := Estimate{Point: math.NaN(), Low: math.Inf(1), High: math.Inf(-1)}
	last, lastX := math.NaN(), 0.0
	for i := from; i < to; i++ {
		a, b := places[i], places[i+1]
		if !(a.X > 0 && b.X > a.X) {
			return Estimate{}, false
		}
		for step := range crossingSteps + 1 {
			w := float64(step) / crossingSteps
			x := math.Exp((1-w)*math.Log(a.X) + w*math.Log(b.X))
			var values []float64
			for _, block := range slices.Sorted(maps.Keys(a.Blocks)) {
				if other, both := b.Blocks[block]; both {
					values = append(values, (1-w)*a.Blocks[block]+w*other)
				}
			}
			e, ok := MeanAt(values, level)
			if !ok {
				return Estimate{}, false
			}
			if e.Sign() == 0 {
				found.Low, found.High = min(found.Low, x), max(found.High, x)
			}
			if math.IsNaN(found.Point) && last*e.Point <= 0 {
				found.Point = math.Sqrt(max(lastX, a.X) * x)
			}
			last, lastX = e.Point, x
		}
	}
	if math.IsNaN(found.Point) {
		return Estimate{}, false
	}
	// An interval narrower than a step is the step.
	found.Low, found.High = min(found.Low, found.Point), max(found.High, found.Point)
	return found, true
}

// AboveChord returns how far each point of a curve lies above the straight line
// between its first and last point, both axes scaled so that this line runs
// from (0, 0) to (1, 1); nil when the ends do not differ on both axes. Where a
// curve rises and flattens, the largest value is its knee.
//
// Source: V. Satopää et al., Finding a "Kneedle" in a Haystack, 2011, section
// III (the difference curve, without smoothing: a front has few points).
func AboveChord(xs, ys []float64) []float64 {
	if len(xs) == 0 {
		return nil
	}
	last := len(xs) - 1
	dx, dy := xs[last]-xs[0], ys[last]-ys[0]
	if dx == 0 || dy == 0 {
		return nil
	}
	above := make([]float64, len(xs))
	for i := range xs {
		above[i] = (ys[i]-ys[0])/dy - (xs[i]-xs[0])/dx
	}
	return above
}
