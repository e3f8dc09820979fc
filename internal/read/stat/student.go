package stat

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/mathext"
)

// studentsT is Student's t distribution, by the incomplete beta function: of it
// alone, because gonum's stat/distuv brings matrices that make 2 MB of a program.
//
// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.1.
type studentsT struct {
	degrees float64 // of freedom, above 0
}

// quantile returns the value below which a share p lies, 0 < p < 1. Any goroutine
// may call it.
func (t studentsT) quantile(p float64) float64 {
	if p == 0.5 {
		return 0
	}
	// The figures of a run have few numbers of blocks and few levels among them, and
	// inverting takes longer than all else of an interval.
	whole := t.degrees == math.Trunc(t.degrees) && t.degrees <= mostKnown
	if known, ok := quantiles.Load(ofT{t.degrees, p}); whole && ok {
		return known.(float64)
	}
	x := mathext.InvRegIncBeta(t.degrees/2, 0.5, 2*min(p, 1-p))
	q := math.Copysign(math.Sqrt(t.degrees*(1-x)/x), p-0.5)
	if whole {
		quantiles.Store(ofT{t.degrees, p}, q)
	}
	return q
}

// mostKnown bounds what quantiles keeps: a study has at most some levels.
const mostKnown = 1000

// quantiles are those computed so far.
var quantiles sync.Map // float64 by ofT

type ofT struct{ degrees, p float64 }

// survival returns the share above x.
func (t studentsT) survival(x float64) float64 {
	beyond := 0.5 * mathext.RegIncBeta(t.degrees/2, 0.5, t.degrees/(x*x+t.degrees))
	if x < 0 {
		return 1 - beyond
	}
	return beyond
}

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
