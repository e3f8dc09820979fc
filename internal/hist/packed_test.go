package hist

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Packed histograms together are the histogram of all their values.
func TestUnpackAddsUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		want, packed := New(), []Packed{}
		for range 1 + rng.IntN(4) {
			one := New()
			for range rng.IntN(500) {
				one.Record(rng.Int64N(1<<(1+rng.IntN(38))), 1+rng.Int64N(1<<rng.IntN(20)))
			}
			want.Merge(one)
			packed = append(packed, one.Pack())
		}
		got := Unpack(packed...)
		if got.Count() != want.Count() || !slices.Equal(got.Steps(), want.Steps()) {
			t.Fatalf("%d values in %d steps, want %d in %d", got.Count(), len(got.Steps()), want.Count(), len(want.Steps()))
		}
		if want.Count() == 0 {
			continue
		}
		for i := range packed {
			packed[i] = packed[i].Coarse(8, i)
		}
		coarse := Unpack(packed...).Quantiles([]float64{0.1, 0.5, 0.99})
		for i, ns := range want.Quantiles([]float64{0.1, 0.5, 0.99}) {
			if off := math.Abs(float64(coarse[i]-ns)) / float64(ns); off > 0.005 {
				t.Errorf("%d ns is %d in few places", ns, coarse[i])
			}
		}
		packed = []Packed{want.Pack()}
		shares := []float64{0.2, 0.5, 0.9}
		for i, ns := range want.Quantiles(shares) {
			below, all := int64(0), int64(0)
			for _, p := range packed {
				b, a := p.UpTo(want.Quantiles(shares))
				below, all = below+b[i], all+a
			}
			if all != want.Count() || below != want.Steps().UpTo([]int64{ns})[0] {
				t.Errorf("%d of %d values up to %d", below, all, ns)
			}
		}
	}
}

// Coarse histograms of many shifts together are finer than one, and lean to no side.
func TestCoarseOfManyShifts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	want, coarse := New(), []Packed{}
	for i := range 64 {
		one := New()
		for range 2000 {
			one.Record(int64(1e6*math.Exp(0.3*rng.NormFloat64())), 1)
		}
		want.Merge(one)
		coarse = append(coarse, one.Pack().Coarse(32, 79*i))
		if few, all := len(Unpack(coarse[i]).Steps()), len(one.Steps()); few*4 > all {
			t.Errorf("%d places of %d", few, all)
		}
	}
	got := Unpack(coarse...)
	shares := []float64{0.05, 0.5, 0.9, 0.99, 0.999}
	for i, ns := range want.Quantiles(shares) {
		if off := float64(got.Quantiles(shares)[i])/float64(ns) - 1; math.Abs(off) > 0.003 {
			t.Errorf("at %v: %.2f %% off", shares[i], 100*off)
		}
	}
}
