package stat

import "sort"

// Holm returns p values adjusted for a family of declared comparisons, whatever
// depends on what: the chance of even one false difference stays below the level.
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

// ascending returns the indices of ps by rising value, ties in place.
func ascending(ps []float64) []int {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return ps[order[a]] < ps[order[b]] })
	return order
}
