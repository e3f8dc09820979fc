package stat

import "gonum.org/v1/gonum/mathext"

// Proportion returns the exact interval of the share that k of n cases are an
// estimate of; from 0 to 1 for n of 0.
//
// Source: C. Clopper and E. Pearson, The use of confidence or fiducial limits
// illustrated in the case of the binomial, 1934.
func Proportion(k, n int) (low, high float64) {
	const tail = (1 - Confidence) / 2
	low, high = 0, 1
	if k > 0 {
		low = mathext.InvRegIncBeta(float64(k), float64(n-k+1), tail)
	}
	if k < n {
		high = mathext.InvRegIncBeta(float64(k+1), float64(n-k), 1-tail)
	}
	return low, high
}
