package stat

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func drawRatios(t *rapid.T) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(0.01, 100), 2, 12).Draw(t, "ratios")
}

func inverse(xs []float64) []float64 {
	out := make([]float64, len(xs))
	for i, x := range xs {
		out[i] = 1 / x
	}
	return out
}

func TestSwappingArmsInvertsTheEstimate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratios := drawRatios(t)
		e, _ := GeometricMean(ratios)
		f, _ := GeometricMean(inverse(ratios))
		if math.Abs(e.Point*f.Point-1) > 1e-9 || math.Abs(e.Low*f.High-1) > 1e-6 || math.Abs(e.High*f.Low-1) > 1e-6 {
			t.Fatalf("%+v and inverted %+v", e, f)
		}
		if !(e.Low <= e.Point && e.Point <= e.High) {
			t.Fatalf("the interval %+v does not hold its point", e)
		}
	})
}

func TestScalingMovesOnlyThePlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ratios, k := drawRatios(t), rapid.Float64Range(0.1, 10).Draw(t, "k")
		scaled := slices.Clone(ratios)
		for i := range scaled {
			scaled[i] *= k
		}
		e, _ := GeometricMean(ratios)
		f, _ := GeometricMean(scaled)
		if math.Abs(f.Point/e.Point/k-1) > 1e-9 || math.Abs(f.High/f.Low/(e.High/e.Low)-1) > 1e-6 {
			t.Fatalf("%+v scaled by %v is %+v", e, k, f)
		}
	})
}

func TestSignFlipInvariances(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-5, 5), 1, 10).Draw(t, "xs")
		p := SignFlip(xs)
		if p < MinP(len(xs)) || p > 1 {
			t.Fatalf("p = %v outside [%v, 1]", p, MinP(len(xs)))
		}
		negated, shuffled := slices.Clone(xs), rapid.Permutation(xs).Draw(t, "shuffled")
		for i := range negated {
			negated[i] *= -1
		}
		if SignFlip(negated) != p || SignFlip(shuffled) != p {
			t.Fatalf("p = %v, negated %v, shuffled %v", p, SignFlip(negated), SignFlip(shuffled))
		}
		if withZero := SignFlip(append(slices.Clone(xs), 0)); withZero != p {
			t.Fatalf("a zero changes p from %v to %v", p, withZero)
		}
	})
}

func TestQuantileIsMonotoneAndInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(rapid.Float64Range(-1e6, 1e6), 1, 30).Draw(t, "xs")
		a, b := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")
		low, high := Quantile(xs, min(a, b)), Quantile(xs, max(a, b))
		if low > high+1e-9 || low < slices.Min(xs) || high > slices.Max(xs) {
			t.Fatalf("quantiles %v and %v of %v", low, high, xs)
		}
	})
}

func TestDriftIgnoresUnitAndDirection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ys := rapid.SliceOfN(rapid.Float64Range(50, 150), 6, 30).Draw(t, "ys")
		k := math.Ldexp(1, rapid.IntRange(-8, 8).Draw(t, "k"))
		scaled, reversed := slices.Clone(ys), slices.Clone(ys)
		for i := range scaled {
			scaled[i] *= k
		}
		slices.Reverse(reversed)
		_, here := Drift(ys)
		if _, there := Drift(scaled); here != there {
			t.Fatalf("drift %v, scaled %v", here, there)
		}
		if _, back := Drift(reversed); here != back {
			t.Fatalf("drift %v, reversed %v", here, back)
		}
	})
}
