// Package stat is the mathematics of comparisons: pure functions over
// []float64 that know nothing of transports, trials or files. No function
// changes its arguments; all may be called from any goroutine.
package stat

import (
	"math"
	"slices"
	"sort"
)

// Confidence of every interval: 95 %.
const Confidence = 0.95

// Estimate is a point with its interval.
type Estimate struct {
	Point, Low, High float64
}

// Logs returns the natural logarithms of ratios; false when one is not a
// positive finite number.
func Logs(ratios []float64) ([]float64, bool) {
	logs := make([]float64, len(ratios))
	for i, r := range ratios {
		if !(r > 0) || math.IsInf(r, 1) {
			return nil, false
		}
		logs[i] = math.Log(r)
	}
	return logs, true
}

// GeometricMean returns the mean ratio with its t interval, computed on logs
// so that swapping numerator and denominator inverts it. False for fewer than
// two ratios or one that is not positive.
//
// Source: the log-ratio analysis of paired designs, e.g. Fleming and Wallace,
// How not to lie with statistics, CACM 1986; Student's t for the interval.
func GeometricMean(ratios []float64) (Estimate, bool) {
	return GeometricMeanAt(ratios, 1-Confidence)
}

// GeometricMeanAt is GeometricMean with an interval of confidence 1 − level.
func GeometricMeanAt(ratios []float64, level float64) (Estimate, bool) {
	logs, ok := Logs(ratios)
	if !ok {
		return Estimate{}, false
	}
	e, ok := MeanAt(logs, level)
	return Estimate{math.Exp(e.Point), math.Exp(e.Low), math.Exp(e.High)}, ok
}

// MeanAt returns the arithmetic mean with its t interval of confidence 1 − level;
// false for fewer than two values.
func MeanAt(xs []float64, level float64) (Estimate, bool) {
	u, ok := MeanOf(xs)
	if !ok {
		return Estimate{}, false
	}
	return u.At(level), true
}

// Mean returns the arithmetic mean, NaN when empty.
func Mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// SD returns the sample standard deviation, NaN for fewer than two values.
func SD(xs []float64) float64 {
	if len(xs) < 2 {
		return math.NaN()
	}
	m, sum := Mean(xs), 0.0
	for _, x := range xs {
		sum += (x - m) * (x - m)
	}
	return math.Sqrt(sum / float64(len(xs)-1))
}

// HalfWidth returns half the width of the t interval of a mean of n values
// with standard deviation sd; +Inf for n < 2.
func HalfWidth(n int, sd float64) float64 {
	if n < 2 {
		return math.Inf(1)
	}
	return TQuantile(float64(n-1)) * sd / math.Sqrt(float64(n))
}

// TQuantile returns the two-sided critical value of Student's t at Confidence.
func TQuantile(degrees float64) float64 {
	return studentsT{degrees}.quantile(1 - (1-Confidence)/2)
}

// TBeyond returns the value above which a share of Student's t lies, 0 < share < 1.
func TBeyond(degrees, share float64) float64 { return studentsT{degrees}.quantile(1 - share) }

// NormalBeyond returns the value above which a share of the standard normal distribution
// lies, 0 < share < 1.
func NormalBeyond(share float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*share) }

// Bounds are the distances from 0, on the log scale and not negative, that settle
// a question: a difference is none within Inside, and one beyond Outside.
type Bounds struct {
	Inside, Outside float64
	Shared          int // what the level is divided by for Outside, see Shares; 0 is 1
}

// settle tells whether an interval of n values around mean with standard deviation
// sd lies wholly within Inside or wholly beyond Outside.
func (b Bounds) settle(mean, sd float64, n int, level float64) bool {
	u := Uncertain{math.Abs(mean), sd / math.Sqrt(float64(n)), float64(n - 1)}
	return n > 1 && (u.At(level).High < b.Inside || u.At(level/float64(max(1, b.Shared))).Low > b.Outside)
}

// BlocksToSettle returns the least number of blocks, at least floor, at which
// an interval around mean with standard deviation sd, both on the log scale, is
// expected to settle a question about bounds. 0 when no number up to MaxBlocks does.
func BlocksToSettle(mean, sd float64, bounds Bounds, floor int) int {
	least := max(floor, 2)
	// More blocks narrow the interval, so what settles once stays settled.
	n := least + sort.Search(MaxBlocks-least+1, func(i int) bool {
		return bounds.settle(mean, sd, least+i, 1-Confidence)
	})
	if n > MaxBlocks {
		return 0
	}
	return n
}

// MaxBlocks bounds what BlocksToSettle will ask for; nobody runs more.
const MaxBlocks = 1000

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
