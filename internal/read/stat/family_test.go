package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// R's p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03, 0.06, 0.06, 0.02.
func TestSharesAreHolms(t *testing.T) {
	ps := []float64{0.01, 0.04, 0.03, 0.005}
	for _, c := range []struct {
		level float64
		want  []int
	}{{0.05, []int{4, 2, 2, 4}}, {0.0599, []int{4, 2, 2, 4}}, {0.061, []int{4, 1, 2, 4}}, {0.019, []int{4, 4, 4, 4}}, {0.021, []int{3, 3, 3, 4}}} {
		got := Shares(ps, c.level)
		for i := range ps {
			if got[i] != c.want[i] {
				t.Errorf("at %v the shares of %v are %v, want %v", c.level, ps, got, c.want)
				break
			}
		}
	}
	if got := Shares(nil, 0.05); len(got) != 0 {
		t.Errorf("shares of none: %v", got)
	}
}

// What is rejected is what Holm's adjusted p rejects, computed here as the method is
// written: by rising p, each times how many are left, never below the one before.
func TestSharesRejectWhatHolmRejects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 {
			return math.Pow(10, rapid.Float64Range(-4, 0).Draw(t, "exponent"))
		}), 1, 20).Draw(t, "ps")
		level := rapid.Float64Range(0.001, 0.1).Draw(t, "level")
		shares := Shares(ps, level)
		for i, p := range ps {
			highest := 0.0
			for _, other := range ps {
				if other <= p {
					rank := 0
					for _, x := range ps {
						if x < other {
							rank++
						}
					}
					highest = max(highest, other*float64(len(ps)-rank))
				}
			}
			if told := p <= level/float64(shares[i]); told != (highest <= level) && math.Abs(highest-level) > 1e-12 {
				t.Fatalf("p %v of %v at %v: share %d, Holm's adjusted p %v", p, ps, level, shares[i], highest)
			}
		}
	})
}

// The p of a bound and the interval are one test: p ≤ level where the interval lies
// beyond the bound.
func TestIntervalAndPAreOneTest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1, 1), 2, 12).Draw(t, "xs")
		level, bound := rapid.Float64Range(0.001, 0.2).Draw(t, "level"), rapid.Float64Range(0, 0.3).Draw(t, "bound")
		u, _ := MeanOf(xs)
		e, p := u.At(level), u.Beyond(bound)
		if beyond := e.Low > bound || e.High < -bound; beyond != (p <= level) && math.Abs(p-level) > 1e-9 {
			t.Fatalf("the interval %v–%v, the bound %v; p %v at level %v", e.Low, e.High, bound, p, level)
		}
	})
}

// The chance of even one false difference among nine comparisons with one baseline,
// in 2000 studies without any difference: at most 5 %, with a standard error of 0.5 %.
// Intervals of the whole level err in far more: the simulation can show an error.
func TestSharesKeepTheFamilywiseError(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const studies = 2000
	for _, blocks := range []int{6, 8} {
		wrong, unshared := 0, 0
		for range studies {
			rows := make([][]float64, 9)
			for b := range blocks {
				for cell := range 3 {
					base := (rng.NormFloat64() + rng.NormFloat64()) / 2
					for arm := range 3 {
						rows[cell*3+arm] = append(rows[cell*3+arm][:b:b], rng.NormFloat64()-base)
					}
				}
			}
			ps := make([]float64, len(rows))
			for i := range rows {
				u, _ := MeanOf(rows[i])
				ps[i] = u.Beyond(0)
			}
			shared, plain := false, false
			for i, share := range Shares(ps, 0.05) {
				shared, plain = shared || ps[i] <= 0.05/float64(share), plain || ps[i] <= 0.05
			}
			wrong, unshared = wrong+one(shared), unshared+one(plain)
		}
		t.Logf("%d blocks: at least one false difference in %.3f of studies, in %.3f without shares", blocks, float64(wrong)/studies, float64(unshared)/studies)
		if float64(wrong)/studies > 0.05+3*0.005 || float64(unshared)/studies < 0.15 {
			t.Errorf("%d blocks: %d of %d studies without a difference find one, %d without shares", blocks, wrong, studies, unshared)
		}
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
