package stat

import (
	"math"
)

// Slope returns the least-squares slope of ys over equally spaced steps with
// its t interval, in units of y per step. False for fewer than three values.
//
// Source: Draper and Smith, Applied Regression Analysis, section 1.4.
func Slope(ys []float64) (Estimate, bool) {
	n := float64(len(ys))
	if len(ys) < 3 {
		return Estimate{}, false
	}
	middle, mean := (n-1)/2, Mean(ys)
	var sxy, sxx float64
	for i, y := range ys {
		dx := float64(i) - middle
		sxy += dx * (y - mean)
		sxx += dx * dx
	}
	slope := sxy / sxx
	residual := 0.0
	for i, y := range ys {
		e := y - mean - slope*(float64(i)-middle)
		residual += e * e
	}
	half := TQuantile(n-2) * math.Sqrt(residual/(n-2)/sxx)
	return Estimate{slope, slope - half, slope + half}, true
}

// What makes a drift. The significance keeps noise out, the change keeps out
// differences that are sure but too small to matter.
const (
	driftSide  = 3    // values that either side of a step needs
	driftP     = 0.01 // after Bonferroni over the places a step can be at
	driftShare = 0.05
)

// Drift tells whether a series has a step or a slope that is both sure and
// larger than 5 % of its mean, and returns that change as a share of the mean:
// at the step, or over the whole series. False for a steady series and for
// fewer than six values, from which nothing follows.
//
// Source: the two-sample t test at each place, the surest kept (Worsley, On
// the likelihood ratio test for a shift in location, 1979, whose exact bound
// Bonferroni's replaces).
func Drift(ys []float64) (change float64, found bool) {
	mean := Mean(ys)
	if len(ys) < 2*driftSide || !(mean > 0) || math.IsInf(mean, 1) {
		return 0, false
	}
	if change, found = step(ys, mean); found {
		return change, true
	}
	slope, _ := Slope(ys)
	change = slope.Point * float64(len(ys)-1) / mean
	if slope.Low*slope.High > 0 && math.Abs(change) > driftShare {
		return change, true
	}
	return 0, false
}

func step(ys []float64, mean float64) (change float64, found bool) {
	least := driftP
	places := len(ys) - 2*driftSide + 1
	for at := driftSide; at <= len(ys)-driftSide; at++ {
		here := (Mean(ys[at:]) - Mean(ys[:at])) / mean
		if math.Abs(here) <= driftShare {
			continue
		}
		if p := pooledT(ys[:at], ys[at:]) * float64(places); p < least {
			change, least, found = here, p, true
		}
	}
	return change, found
}

// pooledT returns the two-sided p of Student's two-sample test.
func pooledT(a, b []float64) float64 {
	na, nb := float64(len(a)), float64(len(b))
	sa, sb := SD(a), SD(b)
	degrees := na + nb - 2
	pooled := math.Sqrt(((na-1)*sa*sa + (nb-1)*sb*sb) / degrees * (1/na + 1/nb))
	distance := math.Abs(Mean(a) - Mean(b))
	if pooled == 0 {
		if distance == 0 {
			return 1
		}
		return 0
	}
	return 2 * studentsT{degrees}.survival(distance/pooled)
}
