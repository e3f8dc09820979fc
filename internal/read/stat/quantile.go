package stat

import (
	"math"
	"slices"
)

// Median returns the middle value, the mean of the two middle ones for an
// even number, NaN when empty.
func Median(xs []float64) float64 { return Quantile(xs, 0.5) }

// Quantile returns the q-quantile (0…1) by linear interpolation between order
// statistics, NaN when empty.
//
// Source: Hyndman and Fan, Sample Quantiles in Statistical Packages, 1996,
// definition 7.
func Quantile(xs []float64, q float64) float64 {
	if len(xs) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(xs))
	at := max(0, min(q, 1)) * float64(len(sorted)-1)
	below := int(at)
	if below == len(sorted)-1 {
		return sorted[below]
	}
	share := at - float64(below)
	return sorted[below]*(1-share) + sorted[below+1]*share
}
