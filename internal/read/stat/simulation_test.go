package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

const runs = 4000

// sources of log ratios with mean 0: what a trial pair's noise may look like.
var sources = []struct {
	name string
	draw func(*rand.Rand) float64
	// Bounds of the t interval's coverage at any n of 6, 8, 10, as this
	// simulation finds them: skew costs coverage, heavy tails give some.
	least, most float64
	symmetric   bool
}{
	{"normal", (*rand.Rand).NormFloat64, 0.93, 0.97, true},
	{"Laplace", func(r *rand.Rand) float64 {
		return r.ExpFloat64() - r.ExpFloat64()
	}, 0.94, 0.98, true},
	{"Student t, 3 degrees", func(r *rand.Rand) float64 {
		a, b, c := r.NormFloat64(), r.NormFloat64(), r.NormFloat64()
		return r.NormFloat64() / math.Sqrt((a*a+b*b+c*c)/3)
	}, 0.94, 0.98, true},
	{"exponential", func(r *rand.Rand) float64 { return r.ExpFloat64() - 1 }, 0.87, 0.93, false},
	{"one trial in ten disturbed", func(r *rand.Rand) float64 {
		x := r.NormFloat64()
		switch {
		case r.Float64() >= 0.1:
			return x
		case r.Float64() < 0.5:
			return x + 5
		}
		return x - 5
	}, 0.94, 0.99, true},
}

func sample(rng *rand.Rand, n int, draw func(*rand.Rand) float64) []float64 {
	xs := make([]float64, n)
	for i := range xs {
		xs[i] = 0.03 * draw(rng)
	}
	return xs
}

// specification §6.2: the t interval on logs covers at the sizes that studies have.
func TestIntervalCoverage(t *testing.T) {
	for _, s := range sources {
		for _, n := range []int{6, 8, 10} {
			rng := rand.New(rand.NewPCG(7, uint64(n)))
			covered := 0
			for range runs {
				ratios := sample(rng, n, s.draw)
				for i := range ratios {
					ratios[i] = math.Exp(ratios[i])
				}
				if e, _ := GeometricMean(ratios); e.Low <= 1 && 1 <= e.High {
					covered++
				}
			}
			share := float64(covered) / runs
			t.Logf("%-27s n = %2d: coverage %.1f %%", s.name, n, 100*share)
			if share < s.least || share > s.most {
				t.Errorf("%s at n = %d covers %.3f, want %v to %v", s.name, n, share, s.least, s.most)
			}
		}
	}
}

// The sign flip is exact where the noise is symmetric; the skewed source only
// shows what asymmetry would cost. Three binomial standard errors at 5 %.
func TestSignFlipFalsePositives(t *testing.T) {
	most := 0.05 + 3*math.Sqrt(0.05*0.95/runs)
	for _, s := range sources {
		for _, n := range []int{5, 6, 8, 10} {
			rng := rand.New(rand.NewPCG(11, uint64(n)))
			found := 0
			for range runs {
				if SignFlip(sample(rng, n, s.draw)) <= 0.05 {
					found++
				}
			}
			share := float64(found) / runs
			t.Logf("%-27s n = %2d: false positives %.1f %%", s.name, n, 100*share)
			if s.symmetric && share > most {
				t.Errorf("%s at n = %d: %.3f false positives, want ≤ %.3f", s.name, n, share, most)
			}
			if n == 5 && found > 0 {
				t.Errorf("%s: 5 values reached p ≤ 0.05", s.name)
			}
		}
	}
}

// Steady noise of 2 % per slice is seldom called unsteady, a slope of 15 % nearly always.
func TestDriftRates(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 1))
	falseAlarms, found := 0, 0
	for range runs {
		steady, rising := make([]float64, 25), make([]float64, 25)
		for i := range steady {
			steady[i] = 100 * (1 + 0.02*rng.NormFloat64())
			rising[i] = 100 * (1 + 0.02*rng.NormFloat64() + 0.15*float64(i)/24)
		}
		if _, ok := Drift(steady); ok {
			falseAlarms++
		}
		if _, ok := Drift(rising); ok {
			found++
		}
	}
	t.Logf("false alarms %.2f %%, slopes found %.2f %%", 100*float64(falseAlarms)/runs, 100*float64(found)/runs)
	if falseAlarms > runs/100 || found < runs*99/100 {
		t.Errorf("%d false alarms and %d found of %d", falseAlarms, found, runs)
	}
}
