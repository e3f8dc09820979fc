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

// ShareAt returns the mean of parts divided by the mean of wholes, one of each in
// every block, with its interval of confidence 1 − level: all shares with which the
// blocks are compatible. False when the mean of the wholes is not told apart from 0
// at that level, for then every share is, and for fewer than two blocks. Shares of
// parts that add up to the whole in every block add up to 1.
//
// Source: E. C. Fieller, Some problems in interval estimation, 1954: the share θ is
// in the interval when Student's t does not tell the mean of part − θ·whole from 0.
func ShareAt(parts, wholes []float64, level float64) (Estimate, bool) {
	whole, ok := MeanAt(wholes, level)
	if !ok || len(parts) != len(wholes) || !(whole.Low > 0 || whole.High < 0) {
		return Estimate{}, false
	}
	n := float64(len(wholes))
	t := studentsT{n - 1}.quantile(1 - level/2)
	scale := t * t / n
	part := Mean(parts)
	// The bounds are the roots of aθ² − 2bθ + c, and a is above 0 by the test above.
	a := whole.Point*whole.Point - scale*covariance(wholes, wholes)
	b := part*whole.Point - scale*covariance(parts, wholes)
	c := part*part - scale*covariance(parts, parts)
	half := math.Sqrt(max(0, b*b-a*c))
	e := Estimate{part / whole.Point, (b - half) / a, (b + half) / a}
	// What rounding takes from an interval without width is no reason to leave the point out.
	e.Low, e.High = min(e.Low, e.Point), max(e.High, e.Point)
	return e, !math.IsInf(e.Low, 0) && !math.IsInf(e.High, 0) && !math.IsNaN(e.Low+e.High)
}

// covariance returns the sample covariance of equally many xs and ys.
func covariance(xs, ys []float64) float64 {
	x, y, sum := Mean(xs), Mean(ys), 0.0
	for i := range xs {
		sum += (xs[i] - x) * (ys[i] - y)
	}
	return sum / float64(len(xs)-1)
}

// DifferenceOfMeans returns how far apart the geometric means of two metrics of the
// same blocks lie, given by their logarithms, with its interval of confidence 1 −
// level. False for fewer than two blocks.
//
// Source: the delta method: to the first order a block moves a geometric mean by
// the mean times the distance of the block's logarithm from theirs.
func DifferenceOfMeans(logs, base []float64, level float64) (Estimate, bool) {
	if len(logs) != len(base) || len(logs) < 2 {
		return Estimate{}, false
	}
	over, under := math.Exp(Mean(logs)), math.Exp(Mean(base))
	moved := make([]float64, len(logs))
	for i := range logs {
		moved[i] = over*logs[i] - under*base[i]
	}
	e, ok := MeanAt(moved, level)
	half, difference := e.High-e.Point, over-under
	return Estimate{difference, difference - half, difference + half}, ok && !math.IsInf(difference, 0)
}
