package stat

import "math"

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

// covariance is that of a sample, of equally many values.
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
