package stat

import (
	"math"
	"testing"
)

func near(a, b float64) bool {
	return math.Abs(a-b) <= 1e-7*max(1, math.Abs(b)) || math.IsInf(a, 1) && math.IsInf(b, 1)
}

func checkAll(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range want {
		if !near(got[i], want[i]) {
			t.Errorf("%s[%d] = %.10g, want %.10g", what, i, got[i], want[i])
		}
	}
}

var eight = []float64{1.05, 0.98, 1.12, 1.07, 1.01, 1.09, 0.99, 1.04}

// Values of scipy 1.x: exp of mean(log) and of t.ppf(.975, 7) standard errors
// around it.
func TestGeometricMeanGolden(t *testing.T) {
	e, ok := GeometricMean(eight)
	if !ok {
		t.Fatal("no estimate")
	}
	for _, pair := range [][2]float64{{e.Point, 1.0427476}, {e.Low, 1.00270462}, {e.High, 1.08438969}} {
		if math.Abs(pair[0]-pair[1]) > 1e-7 {
			t.Errorf("%v, want %v", pair[0], pair[1])
		}
	}
	checkAll(t, "t quantile", []float64{TQuantile(1), TQuantile(5), TQuantile(7), TQuantile(9)},
		[]float64{12.70620474, 2.57058184, 2.36462425, 2.26215716})
	for _, bad := range [][]float64{nil, {1}, {1, 0}, {1, -2}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if _, ok := GeometricMean(bad); ok {
			t.Errorf("%v has a geometric mean", bad)
		}
	}
}

// The first by scipy.stats.permutation_test and by full enumeration, the
// others on paper.
func TestSignFlipGolden(t *testing.T) {
	logs, _ := Logs(eight)
	checkAll(t, "p", []float64{
		SignFlip(logs),
		SignFlip([]float64{1, 2, 3, 4, 5, 6}),      // only all plus and all minus: 2/64
		SignFlip([]float64{1, 1, -1}),              // sums 3 1 1 1 and mirrored: all reach 1
		SignFlip([]float64{3, 2, -1}),              // sums 6 4 2 0 and mirrored: two of four reach 4
		SignFlip([]float64{1, 1, 1, 0}),            // a zero doubles both counts: 2/8
		SignFlip([]float64{0, 0, 0, 0, 0, 0}),      // no difference
		SignFlip([]float64{0.1, 0.2, 0.3, 0, 0.6}), // ties by rounding: 0.1+0.2 and 0.3
		SignFlip([]float64{7}),
		SignFlip(nil),
	}, []float64{0.0546875, 2.0 / 64, 1, 0.5, 0.25, 1, 2.0 / 16, 1, 1})
	checkAll(t, "least p", []float64{MinP(1), MinP(5), MinP(6), MinP(0)}, []float64{1, 0.0625, 0.03125, 1})
}

// Above 20 values the p is drawn: it must agree with the exact one where both
// are feasible.
func TestSignFlipDrawnAgreesWithExact(t *testing.T) {
	xs := []float64{0.02, -0.01, 0.03, 0.01, -0.02, 0.015, 0.005, 0.03, -0.004, 0.012, 0.02, -0.03}
	reach := -1e-12
	for _, x := range xs {
		reach += x
	}
	exact, drawn := exactFlips(xs, reach), randomFlips(xs, reach)
	if tolerance := 4 * math.Sqrt(exact*(1-exact)/draws); math.Abs(exact-drawn) > tolerance {
		t.Fatalf("drawn %v, exact %v", drawn, exact)
	}
	long := make([]float64, 40)
	for i := range long {
		long[i] = 1
	}
	if p := SignFlip(long); p != 1.0/(draws+1) {
		t.Fatalf("p of 40 equal values = %v, want the least that draws can give", p)
	}
}

// By numpy.quantile.
func TestQuantileGolden(t *testing.T) {
	xs := []float64{3, 1, 4, 1, 5, 9, 2, 6}
	checkAll(t, "quantiles", []float64{Quantile(xs, 0.1), Quantile(xs, 0.25), Median(xs), Quantile(xs, 0.9), Quantile(xs, 0), Quantile(xs, 1)},
		[]float64{1, 1.75, 3.5, 6.9, 1, 9})
	if xs[1] != 1 || xs[5] != 9 {
		t.Error("the argument was sorted in place")
	}
	if !math.IsNaN(Median(nil)) {
		t.Error("nothing has a median")
	}
}

// By scipy.stats.linregress and ttest_ind.
func TestSlopeGolden(t *testing.T) {
	s, ok := Slope([]float64{100, 103, 99, 107, 105, 110, 108})
	if !ok {
		t.Fatal("no slope")
	}
	checkAll(t, "slope", []float64{s.Point, s.Low, s.High}, []float64{1.5714285714, 0.3315309695, 2.8113261734})
	checkAll(t, "t test", []float64{
		pooledT([]float64{100, 102, 98, 101}, []float64{110, 108, 112, 109, 111}),
		pooledT([]float64{1, 1}, []float64{1, 1}), pooledT([]float64{1, 1}, []float64{2, 2}),
	}, []float64{4.652128139e-5, 1, 0})
	if _, ok := Slope([]float64{1, 2}); ok {
		t.Error("two values have a slope with an interval")
	}
}

func TestBlocksToSettle(t *testing.T) {
	// By hand: with sd 0.03 and mean 0.05, n = 6 gives 0.05 − 2.5706·0.03/√6 = 0.0185,
	// n = 7 gives 0.0223 > 0.0198.
	if n := BlocksToSettle(-0.05, 0.03, Bounds{Inside: 0.0198, Outside: 0.0198}, 2); n != 7 {
		t.Errorf("%d blocks for a difference, want 7", n)
	}
	// 2.2281·0.02/√11 = 0.0134; 2.3646·0.02/√8 = 0.0167; 2.2622·0.02/√10 = 0.0143 < 0.0148
	if n := BlocksToSettle(0.005, 0.02, Bounds{Inside: 0.0198, Outside: 0.0198}, 2); n != 10 {
		t.Errorf("%d blocks for an equivalence, want 10", n)
	}
	if n := BlocksToSettle(0.0198, 0.03, Bounds{Inside: 0.0198, Outside: 0.0198}, 6); n != 0 {
		t.Errorf("%d blocks for a mean on the bound, want none", n)
	}
	if n := BlocksToSettle(1, 0, Bounds{Inside: 0.01, Outside: 0.01}, 6); n != 6 {
		t.Errorf("%d blocks, want the floor", n)
	}
}

func TestDrift(t *testing.T) {
	steady := []float64{100, 101, 99, 100, 102, 98, 100, 101, 99, 100}
	with := func(change func(i int, y float64) float64) []float64 {
		ys := make([]float64, len(steady))
		for i, y := range steady {
			ys[i] = change(i, y)
		}
		return ys
	}
	cases := []struct {
		name string
		ys   []float64
		want bool
	}{
		{"steady", steady, false},
		{"slope of 20 %", with(func(i int, y float64) float64 { return y + 2.2*float64(i) }), true},
		{"step of 10 %", with(func(i int, y float64) float64 { return y - 10*float64(i/6) }), true},
		{"sure but small step of 3 %", with(func(i int, y float64) float64 { return 100 + 3*float64(i/5) }), false},
		{"one slow slice", with(func(i int, y float64) float64 {
			if i == 4 {
				return 60
			}
			return y
		}), false},
		{"too short", []float64{1, 2, 3, 4, 5}, false},
		{"nothing at all", make([]float64, 10), false},
	}
	for _, c := range cases {
		if change, got := Drift(c.ys); got != c.want {
			t.Errorf("%s: drift %v %v, want %v", c.name, change, got, c.want)
		}
	}
}
