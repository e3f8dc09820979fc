package stat

import (
	"math"
	"testing"
)

// The textbook's two samples: Welch's t, degrees and p as R's t.test prints
// them for extra ~ group of its data set sleep.
func TestApartIsWelchs(t *testing.T) {
	a := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2}
	b := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	x, _ := MeanComponent(a)
	y, _ := MeanComponent(b)
	welch := Apart(Mean(a)-Mean(b), x, y)
	got, p := welch.At(0.05), welch.Beyond(0)
	for name, pair := range map[string][2]float64{"p": {p, 0.07939}, "low": {got.Low, -3.3654832}, "high": {got.High, 0.2054832}} {
		if math.Abs(pair[0]-pair[1]) > 1e-5 {
			t.Errorf("%s %v, want %v", name, pair[0], pair[1])
		}
	}
	if p := Apart(1, Component{}, Component{}).Beyond(0); p != 0 {
		t.Errorf("a difference without any variance has p %v", p)
	}
	if wide := Apart(Mean(a)-Mean(b), x, y, Component{1, 7}).At(0.05); wide.High-wide.Low <= got.High-got.Low {
		t.Error("a further component of variance does not widen the interval")
	}
}

func TestSmallestDifference(t *testing.T) {
	if got := SmallestDifference(1, 0.1, 0); !math.IsInf(got, 1) {
		t.Errorf("one value tells %v", got)
	}
	// (2.262 + 1.383) × 0.02 ÷ √10, from tables of Student's t with 9 degrees.
	if got := SmallestDifference(10, 0.02, 0.01); math.Abs(got-0.03305) > 1e-4 {
		t.Errorf("ten values of sd 0.02 tell %v beyond 0.01, want 0.03305", got)
	}
}

func TestRounds(t *testing.T) {
	got := Rounds([]float64{1, 2, 3, 4, 5, 6, 100}, 3)
	if len(got) != 2 || got[0] != 2 || got[1] != 5 {
		t.Errorf("rounds %v, want 2 and 5", got)
	}
}

// 5 of 100: R's binom.test has 0.01643 to 0.11283; none of 20 up to 1 − 0.025^(1/20).
func TestProportion(t *testing.T) {
	for _, c := range []struct {
		k, n      int
		low, high float64
	}{{5, 100, 0.016432, 0.112835}, {0, 20, 0, 1 - math.Pow(0.025, 1.0/20)}, {20, 20, math.Pow(0.025, 1.0/20), 1}, {0, 0, 0, 1}} {
		if low, high := Proportion(c.k, c.n); math.Abs(low-c.low) > 1e-5 || math.Abs(high-c.high) > 1e-5 {
			t.Errorf("%d of %d: %.6f to %.6f, want %.6f to %.6f", c.k, c.n, low, high, c.low, c.high)
		}
	}
}
