package stat

import "math"

// Uncertain is an estimate of a mean and how sure it is: what Student's t is
// asked about it.
type Uncertain struct {
	Point   float64
	Error   float64 // standard
	Degrees float64 // of freedom of Error; 0 of nothing that was measured
}

// MeanOf returns the arithmetic mean of values with its standard error; false for
// fewer than two.
func MeanOf(xs []float64) (Uncertain, bool) {
	if len(xs) < 2 {
		return Uncertain{}, false
	}
	n := float64(len(xs))
	return Uncertain{Mean(xs), SD(xs) / math.Sqrt(n), n - 1}, true
}

// At returns the t interval of confidence 1 − level.
func (u Uncertain) At(level float64) Estimate {
	half := 0.0
	if u.Error > 0 {
		half = studentsT{u.Degrees}.quantile(1-level/2) * u.Error
	}
	return Estimate{u.Point, u.Point - half, u.Point + half}
}

// Beyond returns the two-sided p of the point lying farther than bound from 0: it is
// at most a level exactly where the interval of that level lies wholly beyond. 1
// within the bound.
func (u Uncertain) Beyond(bound float64) float64 {
	distance := math.Abs(u.Point) - bound
	switch {
	case !(distance > 0):
		return 1
	case u.Error == 0:
		return 0
	}
	return 2 * studentsT{u.Degrees}.survival(distance/u.Error)
}

// Shares returns the divisor of a family's level for each of the family's tests: the
// number of tests at first, and after each round of rejections the number of tests that
// are left. Of four tests with p of 0.001, 0.02, 0.03 and 0.5, at a level of 0.05, the
// first has 4 and the others 3. The chance of even one false rejection stays below the
// level, however the tests depend on each other. A test is rejected exactly where its p is
// at most level ÷ its share.
//
// Source: S. Holm, A simple sequentially rejective multiple test procedure, 1979.
// The intervals of these levels agree with the rejections: K. Strassburger and F.
// Bretz, Compatible simultaneous lower confidence bounds for the Holm procedure and
// other Bonferroni-based closed tests, 2008, of those that are not rejected.
func Shares(ps []float64, level float64) []int {
	shares := make([]int, len(ps))
	for left := len(ps); left > 0; {
		told := 0
		for i, p := range ps {
			if shares[i] == 0 && p <= level/float64(left) {
				shares[i] = left
				told++
			}
		}
		if told == 0 {
			for i := range shares {
				if shares[i] == 0 {
					shares[i] = left
				}
			}
			break
		}
		left -= told
	}
	return shares
}
