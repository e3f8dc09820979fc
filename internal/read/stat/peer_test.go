package stat

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// What is written out here agrees with gonum's, which weighs too much to be linked.

func TestStudentsTAgrees(t *testing.T) {
	for _, degrees := range []float64{1, 1.5, 2, 5, 9, 30, 41.7, 1000} {
		own, peer := studentsT{degrees}, distuv.StudentsT{Sigma: 1, Nu: degrees}
		for _, p := range []float64{1e-9, 1e-4, 0.025, 0.3, 0.5, 0.7, 0.95, 0.975, 0.99999} {
			if got, want := own.quantile(p), peer.Quantile(p); math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("quantile %v of %v degrees: %v, want %v", p, degrees, got, want)
			}
		}
		for _, x := range []float64{-40, -2, -0.1, 0, 0.1, 1, 2.7, 40, math.Inf(1)} {
			if got, want := own.survival(x), peer.Survival(x); math.Abs(got-want) > 1e-15 {
				t.Errorf("survival beyond %v of %v degrees: %v, want %v", x, degrees, got, want)
			}
		}
	}
}
