package trial

import (
	"fmt"
	"math"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// sendLateness is how late a generator's sends may be without a fault of its own: a timer's overshoot,
// 1 ms in Go's runtime and in epoll (golang/go#44343), and one slice of the
// kernel's scheduler, 3 ms, for whoever had the CPU when it expired. specification §2.3
// says what was measured.
const sendLateness = 4 * time.Millisecond

// Of fewer gaps a drawn schedule's coefficient of variation is too uncertain.
const leastGaps = 100

// Bursty says that an open loop's sends vary more than the declared arrivals do.
const Bursty = "bursty"

var flagBursty = Flag{
	Name:    Bursty,
	Changes: "times are those of bursts",
	Warning: "sent in bursts, which the declared arrivals do not",
	Advice:  "give the clients more CPUs or processes (clients=2), or offer less",
	raise: func(e *audit) string {
		a, low, high, ok := gaps(e)
		if !ok || a.CV <= high {
			return ""
		}
		return gapWords(a, low, high)
	},
}

// TooRegular says that sends of random arrivals, or of bursts, vary less than was declared.
const TooRegular = "too-regular"

var flagTooRegular = Flag{
	Name:    TooRegular,
	Changes: "requests waited less than at those arrivals",
	Warning: "sent at more even intervals than the arrivals that were declared",
	Advice:  "take another client, or arrival=constant, which is nearer to what this one sends",
	raise: func(e *audit) string {
		a, low, high, ok := gaps(e)
		if !ok || a.CV >= low {
			return ""
		}
		return gapWords(a, low, high)
	},
}

// gaps returns the gaps between one client's sends and the bounds of their
// variation; false where there are too few, or where the trial was overloaded:
// sends that wait for a slot follow the server, and that flag says so.
func gaps(e *audit) (a record.Arrivals, low, high float64, ok bool) {
	a, ok = e.window.Arrivals()
	if !ok || a.Gaps < leastGaps || a.Once || overloaded(e) != "" {
		return a, 0, 0, false
	}
	low, high = gapBounds(a)
	return a, low, high, true
}

func gapWords(a record.Arrivals, low, high float64) string {
	bound, limit := "at least", low
	if a.CV > high {
		bound, limit = "at most", high
	}
	return fmt.Sprintf("the gaps between the sends of %s have a coefficient of variation of %.3g; with the declared %s arrivals at %s and no send more than %s late it would be %s %.3g",
		a.Client.Name, a.CV, a.Process, quantity.FormatRate(1e9/a.StepNs), quantity.FormatDuration(sendLateness), bound, limit)
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
// Others: let x² = 1 + cv² of the sends and y² = 1 + cv² of the dues, the mean
// squares in steps. A sent gap is at most the due one and sendLateness, so by
// Cauchy and Schwarz x² ≤ r + xy; and the other way round y² ≤ r + xy. A sample of
// n gamma gaps with a cv of c has that cv with standard deviation √((c⁴ + c²)/2n): the
// delta method on their first two moments. Poisson's c is 1; four are allowed. Bursts come
// again and again in the time that was kept, of which one may be in part.
func gapBounds(a record.Arrivals) (low, high float64) {
	r := float64(sendLateness) / a.StepNs
	c := a.Declared
	if !(c > 0) {
		return 0, math.Sqrt(r * min(r, 1))
	}
	scatter := 4 * math.Sqrt((c*c*c*c+c*c)/2/a.Gaps)
	if load := a.Client.Setup.Load; len(load.Phases) > 0 {
		holds := 0.0
		for _, p := range load.Phases {
			holds += p.Holds()
		}
		scatter += c * min(1, holds/a.Gaps)
	}
	y := math.Hypot(1, c+scatter)
	x := (y + math.Sqrt(y*y+4*r)) / 2
	high = math.Sqrt(x*x - 1)
	y = math.Hypot(1, max(0, c-scatter))
	x = y - r/y
	return math.Sqrt(max(0, x*max(0, x)-1)), high
}
