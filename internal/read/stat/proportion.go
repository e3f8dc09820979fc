package stat

import "gonum.org/v1/gonum/stat/distuv"

// Proportion returns the exact interval of the share that k of n cases are an
// estimate of; from 0 to 1 for n of 0.
//
// Source: C. Clopper and E. Pearson, The use of confidence or fiducial limits
// illustrated in the case of the binomial, 1934.
func Proportion(k, n int) (low, high float64) {
	const tail = (1 - Confidence) / 2
	low, high = 0, 1
	if k > 0 {
		low = distuv.Beta{Alpha: float64(k), Beta: float64(n - k + 1)}.Quantile(tail)
	}
	if k < n {
		high = distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(1 - tail)
	}
	return low, high
}
