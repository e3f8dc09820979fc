//go:build !race

package main

import (
	"math"
	"testing"
	"time"

	"netdyno/internal/contract"
)

// The sums of the gaps agree with the window's counts and with each other, and
// even sends scatter by no more than the lags of the same window allow: with a
// lag of at most r steps the variance is at most r·min(r, 1) squared steps, on
// a busy machine as on a quiet one.
func TestArrivalsAgreeWithCountsAndLags(t *testing.T) {
	const rate, slots = 500.0, 8
	for _, process := range []contract.Arrival{contract.Constant, contract.Poisson} {
		r := pretend(t, contract.Load{Connections: slots, Rate: rate, Arrival: process}, nil, 400*time.Millisecond)
		a := r.Arrivals
		if a == nil {
			t.Fatalf("%s: an open loop has no arrivals", process)
		}
		window := r.ToNs - r.FromNs
		// One in each slot may have been sent before an edge and completed after it.
		if sends := a.Gaps + 1; sends > r.Counts.Exchanges+slots || sends < r.Counts.Exchanges-slots {
			t.Errorf("%s: %d sends of %d exchanges", process, sends, r.Counts.Exchanges)
		}
		if a.StretchNs != window || a.SumNs > window || a.SumNs <= 0 {
			t.Errorf("%s: gaps of %d ns in a stretch of %d ns of a window of %d ns", process, a.SumNs, a.StretchNs, window)
		}
		n, sum := float64(a.Gaps), float64(a.SumNs)
		if a.SumSquaresNs2 < sum*sum/n || a.SumSquaresNs2 > sum*sum {
			t.Errorf("%s: squares of %v ns² of %v gaps of %v ns in all: no such gaps exist", process, a.SumSquaresNs2, n, sum)
		}
		if process != contract.Constant {
			continue
		}
		const step = 1e9 / rate
		lag := float64(percentiles(t, r.Lag).MaxNs()) / step
		off := (a.SumSquaresNs2 - 2*step*sum + n*step*step) / n / (step * step) // mean square of gap - step
		if most := lag * min(lag, 1); off > 1.05*most+0.01 {
			t.Errorf("gaps lie %.3g steps off in the mean, lags of at most %.3g steps allow %.3g", math.Sqrt(off), lag, math.Sqrt(most))
		}
	}
}

// A generator that ignored the process would send 150 gaps with a coefficient of
// variation near 0; drawn ones have 1, with a standard deviation of 0.08.
func TestPoissonArrivalsAreDrawn(t *testing.T) {
	r := undisturbed(t, contract.Load{Connections: 8, Rate: 200, Arrival: contract.Poisson}, nil, 750*time.Millisecond)
	n, sum := float64(r.Arrivals.Gaps), float64(r.Arrivals.SumNs)
	if cv := math.Sqrt(r.Arrivals.SumSquaresNs2*n/(sum*sum) - 1); cv < 0.5 {
		t.Errorf("the gaps vary by %.2f of their mean, want about 1", cv)
	}
}
