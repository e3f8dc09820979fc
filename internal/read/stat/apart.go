package stat

import (
	"math"
)

// Component is a part of the variance of an estimate, and the degrees of
// freedom that it was estimated with.
type Component struct {
	Variance float64
	Degrees  float64
}

// MeanComponent is the variance of the mean of xs; false for fewer than two.
func MeanComponent(xs []float64) (Component, bool) {
	n := float64(len(xs))
	if n < 2 {
		return Component{}, false
	}
	sd := SD(xs)
	return Component{sd * sd / n, n - 1}, true
}

// Apart returns an estimate whose variance is the sum of components, for Student's
// t with the effective degrees of freedom.
//
// Source: F. E. Satterthwaite, An approximate distribution of estimates of
// variance components, 1946; B. L. Welch, 1947, is the case of two.
func Apart(point float64, components ...Component) Uncertain {
	variance, squares := 0.0, 0.0
	for _, c := range components {
		variance += c.Variance
		squares += c.Variance * c.Variance / c.Degrees
	}
	if variance == 0 {
		return Uncertain{Point: point, Degrees: math.Inf(1)}
	}
	return Uncertain{point, math.Sqrt(variance), variance * variance / squares}
}

// found is the share of cases in which SmallestDifference is to be found.
const found = 0.9

// SmallestDifference returns the least mean whose interval over n values with
// standard deviation sd lies beyond bound in nine of ten cases; +Inf for n < 2.
//
// Source: the sample size of the paired t test, e.g. S. A. Julious, Sample
// sizes for clinical trials with normal data, 2004, section 3.
func SmallestDifference(n int, sd, bound float64) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	t := studentsT{float64(n - 1)}
	return bound + (TQuantile(float64(n-1))+t.quantile(found))*sd/math.Sqrt(float64(n))
}

// Rounds cuts consecutive values into rounds of a size and returns their means;
// values left over are not used.
func Rounds(xs []float64, size int) []float64 {
	means := make([]float64, 0, len(xs)/size)
	for ; len(xs) >= size; xs = xs[size:] {
		means = append(means, Mean(xs[:size]))
	}
	return means
}
