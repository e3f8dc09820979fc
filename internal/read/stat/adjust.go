package stat

import "sort"

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
		adjusted[i] = max(lowest, ps[i]) // rounding must not take it below
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
