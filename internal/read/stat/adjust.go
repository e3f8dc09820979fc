package stat

import "sort"

// Holm returns p values adjusted for a family of declared comparisons: with
// them the chance of even one false difference stays below the level.
//
// Source: S. Holm, A simple sequentially rejective multiple test procedure, 1979.
func Holm(ps []float64) []float64 {
	adjusted := make([]float64, len(ps))
	highest := 0.0
	for rank, i := range ascending(ps) {
		highest = max(highest, min(1, ps[i]*float64(len(ps)-rank)))
		adjusted[i] = highest
	}
	return adjusted
}

// BenjaminiHochberg returns p values adjusted for an exploratory matrix: with
// them the expected share of false differences among those found stays below
// the level.
//
// Source: Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, 1995.
func BenjaminiHochberg(ps []float64) []float64 {
	adjusted := make([]float64, len(ps))
	order := ascending(ps)
	lowest := 1.0
	for rank := len(order) - 1; rank >= 0; rank-- {
		i := order[rank]
		lowest = min(lowest, ps[i]*float64(len(ps))/float64(rank+1))
		adjusted[i] = lowest
	}
	return adjusted
}

// ascending returns the indices of ps by rising value, ties in place.
func ascending(ps []float64) []int {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return ps[order[a]] < ps[order[b]] })
	return order
}
