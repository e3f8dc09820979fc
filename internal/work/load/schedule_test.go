package load

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"netdyno/internal/contract"
)

// drawDues returns the first n dues of every slot together, in ns.
func drawDues(l contract.Load, seed uint64, slots, n int) []float64 {
	var all []float64
	for i := range slots {
		s := newSchedule(&Load{plan: l, seed: seed}, i, slots)
		for range n {
			all = append(all, float64(s.peek()))
			s.advance()
		}
	}
	return all
}

func TestConstantScheduleIsOneEvenRhythm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 200).Draw(t, "slots")
		rate := rapid.Float64Range(10, 1e6).Draw(t, "rate")
		seen := map[int64]bool{}
		for i := range slots {
			s := newSchedule(&Load{plan: contract.Load{Rate: rate, Arrival: contract.Constant}}, i, slots)
			for range 5 {
				// Every due is (m + ½) / rate for a whole m that no other slot has.
				m := float64(s.peek())*rate/1e9 - 0.5
				whole := int64(math.Round(m))
				if math.Abs(m-float64(whole)) > 0.01*max(1, rate/1e5) {
					t.Fatalf("slot %d is due %v steps after the start", i, m)
				}
				if seen[whole] {
					t.Fatalf("two exchanges are due at step %d", whole)
				}
				seen[whole] = true
				s.advance()
			}
		}
		for m := range int64(5 * slots) {
			if !seen[m] {
				t.Fatalf("nothing is due at step %d of %d", m, 5*slots)
			}
		}
	})
}

// Exponential gaps have a coefficient of variation of 1; 20,000 of them
// estimate the mean within 3 % at four standard errors.
func TestPoissonScheduleHasItsRateAndSpread(t *testing.T) {
	const slots, n, rate = 1, 20000, 5000.0
	dues := drawDues(contract.Load{Rate: rate, Arrival: contract.Poisson}, 7, slots, n)
	var sum, squares float64
	last := 0.0
	for _, d := range dues {
		gap := d - last
		last = d
		sum += gap
		squares += gap * gap
	}
	mean := sum / n
	cv := math.Sqrt(squares/n-mean*mean) / mean
	if math.Abs(mean*rate/1e9-1) > 0.03 || math.Abs(cv-1) > 0.04 {
		t.Fatalf("mean gap %.0f ns for %.0f/s, coefficient of variation %.3f", mean, rate, cv)
	}
}
