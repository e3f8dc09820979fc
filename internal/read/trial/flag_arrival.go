package trial

import (
	"fmt"
	"math"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// sendLateness is how late an honest generator's sends may be: a timer's overshoot,
// 1 ms in Go's runtime and in epoll (golang/go#44343), and one slice of the
// kernel's scheduler, 3 ms, for whoever had the CPU when it expired. METHOD §2.3
// says what was measured.
const sendLateness = 4 * time.Millisecond

// Of fewer gaps a drawn schedule's coefficient of variation is too uncertain.
const leastGaps = 100

// arrivals: the sends did not come as the declared process, by more than sends
// that are each at most sendLateness after their due can.
func arrivals(e *audit) (flag, why string) {
	a, ok := e.window.Arrivals()
	if !ok || a.Gaps < leastGaps || fellShort(e) {
		return "", ""
	}
	low, high := gapBounds(a)
	told := fmt.Sprintf("the coefficient of variation of the gaps between the sends of %s is %.3g; %s arrivals at %s were declared, with no send more than %s late it is at",
		a.Client.Name, a.CV, a.Process, quantity.FormatRate(1e9/a.StepNs), quantity.FormatDuration(sendLateness))
	switch {
	case a.CV > high:
		return Bursty, fmt.Sprintf("%s most %.3g", told, high)
	case a.CV < low:
		return TooRegular, fmt.Sprintf("%s least %.3g", told, low)
	}
	return "", ""
}

// fellShort tells whether flag overloaded stands: sends that waited for a slot
// follow the server and no declared process, and that flag says so.
func fellShort(e *audit) bool {
	flag, _ := overloaded(e)
	return flag != ""
}

// gapBounds returns between which values the coefficient of variation (cv) of a
// client's gaps lies when none of its sends is more than sendLateness after its
// due. Let r = sendLateness ÷ step, and no gap then grows or shrinks by more than
// sendLateness over that of the dues.
//
// Constant: the changes have mean 0, lie between -step and sendLateness, and
// between -sendLateness and sendLateness; so their variance, cv² in steps, is at
// most r, and at most r² (Bhatia and Davis, A Better Bound on the Variance, Amer.
// Math. Monthly 107, 2000).
//
// Poisson: let x² = 1 + cv² of the sends and y² = 1 + cv² of the dues, the mean
// squares in steps. A sent gap is at most the due one and sendLateness, so by
// Cauchy and Schwarz x² ≤ r + xy; and the other way round y² ≤ r + xy. A sample of
// n exponential gaps has a cv of 1 with standard deviation 1/√n (delta method on
// their first two moments, whose variances and covariance are 1, 20 and 4 over n);
// four are allowed.
func gapBounds(a record.Arrivals) (low, high float64) {
	r := float64(sendLateness) / a.StepNs
	if a.Process != contract.Poisson {
		return 0, math.Sqrt(r * min(r, 1))
	}
	scatter := 4 / math.Sqrt(a.Gaps)
	y := math.Hypot(1, 1+scatter)
	x := (y + math.Sqrt(y*y+4*r)) / 2
	high = math.Sqrt(x*x - 1)
	y = math.Hypot(1, max(0, 1-scatter))
	x = y - r/y
	return math.Sqrt(max(0, x*max(0, x)-1)), high
}
