package stat

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// NIST's StRD data set Longley, of high difficulty: employment by deflator,
// national product, unemployed, forces, population and year.
var longley = [][]float64{
	{60323, 83.0, 234289, 2356, 1590, 107608, 1947}, {61122, 88.5, 259426, 2325, 1456, 108632, 1948},
	{60171, 88.2, 258054, 3682, 1616, 109773, 1949}, {61187, 89.5, 284599, 3351, 1650, 110929, 1950},
	{63221, 96.2, 328975, 2099, 3099, 112075, 1951}, {63639, 98.1, 346999, 1932, 3594, 113270, 1952},
	{64989, 99.0, 365385, 1870, 3547, 115094, 1953}, {63761, 100.0, 363112, 3578, 3350, 116219, 1954},
	{66019, 101.2, 397469, 2904, 3048, 117388, 1955}, {67857, 104.6, 419180, 2822, 2857, 118734, 1956},
	{68169, 108.4, 442769, 2936, 2798, 120445, 1957}, {66513, 110.8, 444546, 4681, 2637, 121950, 1958},
	{68655, 112.6, 482704, 3813, 2552, 123366, 1959}, {69564, 114.2, 502601, 3931, 2514, 125368, 1960},
	{69331, 115.7, 518173, 4806, 2572, 127852, 1961}, {70551, 116.9, 554894, 4007, 2827, 130081, 1962},
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// NIST's certified values.
func TestLeastSquaresLongley(t *testing.T) {
	var rows [][]float64
	var ys []float64
	for _, line := range longley {
		rows, ys = append(rows, append([]float64{1}, line[1:]...)), append(ys, line[0])
	}
	got, err := LeastSquares(rows, ys, ones(len(ys)))
	if err != nil {
		t.Fatal(err)
	}
	checkAll(t, "coefficient", got, []float64{
		-3482258.63459582, 15.0618722713733, -0.0358191792925910, -2.02022980381683, -1.03322686717359, -0.0511041056535807, 1829.15146461355,
	})
}

// By the normal equations in exact fractions, weights and reweighting alike.
func TestWeightedLeastSquaresGolden(t *testing.T) {
	ys := []float64{1051, 1420, 5102, 110800, 1043, 1098, 11900, 41500}
	var rows [][]float64
	var scale []float64
	for i, n := range []float64{1, 10, 100, 1000, 1, 10, 100, 1000} {
		rows = append(rows, []float64{1, n, n * []float64{0, 32, 0, 32, 32, 0, 32, 0}[i]})
		scale = append(scale, 1/ys[i])
	}
	weighted, err := LeastSquares(rows, ys, scale)
	if err != nil {
		t.Fatal(err)
	}
	checkAll(t, "weighted", weighted, []float64{822.6744537342286, 40.57475734895704, 1.808770311986984})
	relative, err := RelativeLeastSquares(rows, ys)
	if err != nil {
		t.Fatal(err)
	}
	checkAll(t, "relative", relative, []float64{875.0384814604738, 40.36840767444077, 1.9510350570455228})
}

func TestLeastSquaresRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		rows   [][]float64
		ys     []float64
		column int // that depends; -1 for another refusal
	}{
		"constant column":   {[][]float64{{1, 5, 1}, {1, 5, 2}, {1, 5, 4}, {1, 5, 7}}, []float64{1, 2, 3, 4}, 1},
		"nothing":           {[][]float64{{1, 0}, {1, 0}}, []float64{1, 2}, 1},
		"sum of two":        {[][]float64{{1, 1, 2}, {1, 7, 8}, {1, 3, 4}, {1, 4, 5}}, []float64{1, 2, 3, 4}, 2},
		"large and rounded": {[][]float64{{1, 0.1, 3e12}, {1, 0.2, 6e12}, {1, 0.3, 9e12}, {1, 0.7, 21e12}}, []float64{1, 2, 3, 4}, 2},
		"too few":           {[][]float64{{1, 2}}, []float64{1}, -1},
		"none":              {nil, nil, -1},
		"not a number":      {[][]float64{{1, math.NaN()}, {1, 2}}, []float64{1, 2}, -1},
		"infinite":          {[][]float64{{1, 3}, {1, 2}}, []float64{1, math.Inf(1)}, -1},
	} {
		_, err := LeastSquares(c.rows, c.ys, ones(len(c.ys)))
		var dependent *DependentError
		switch found := errors.As(err, &dependent); {
		case err == nil:
			t.Errorf("%s: fitted", name)
		case found != (c.column >= 0) || found && dependent.Column != c.column:
			t.Errorf("%s: %v, want column %d", name, err, c.column)
		}
	}
}

// What was planted without noise comes out, whatever the units of the columns
// and whatever the weights.
func TestPlantedCoefficientsComeOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		p := rapid.IntRange(1, 5).Draw(t, "p")
		planted, units := make([]float64, p), make([]float64, p)
		for j := range planted {
			planted[j] = rng.NormFloat64()
			units[j] = math.Pow(10, float64(rapid.IntRange(-6, 9).Draw(t, "unit")))
		}
		var rows [][]float64
		var ys, scale []float64
		for range p + rapid.IntRange(1, 20).Draw(t, "spare") {
			row := make([]float64, p)
			for j := range row {
				row[j] = rng.NormFloat64() * units[j]
			}
			y := 0.0
			for j := range row {
				y += row[j] / units[j] * planted[j]
			}
			rows, ys, scale = append(rows, row), append(ys, y), append(scale, 0.5+rng.Float64())
		}
		got, err := LeastSquares(rows, ys, scale)
		if err != nil {
			t.Fatal(err)
		}
		for j := range got {
			if math.Abs(got[j]*units[j]-planted[j]) > 1e-6*(1+math.Abs(planted[j])) {
				t.Fatalf("coefficient %d is %v, planted %v", j, got[j]*units[j], planted[j])
			}
		}
	})
}

// The weighted residuals stand perpendicular to every column: no other
// coefficients do better.
func TestResidualsArePerpendicular(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		var rows [][]float64
		var ys, scale []float64
		for range rapid.IntRange(4, 30).Draw(t, "n") {
			rows = append(rows, []float64{1, rng.NormFloat64(), rng.ExpFloat64()})
			ys, scale = append(ys, 10*rng.NormFloat64()), append(scale, 0.1+rng.Float64())
		}
		got, err := LeastSquares(rows, ys, scale)
		if err != nil {
			t.Fatal(err)
		}
		for j := range got {
			sum := 0.0
			for i, row := range rows {
				sum += scale[i] * scale[i] * row[j] * (ys[i] - Linear(row, got))
			}
			if math.Abs(sum) > 1e-6 {
				t.Fatalf("column %d times the residuals is %v", j, sum)
			}
		}
	})
}

// specification §4.2: fitted within blocks, their mean's interval covers the truth,
// the small base and the large slope alike, while the blocks drift and trials
// differ in proportion to their value.
func TestRelativeFitCoverage(t *testing.T) {
	const studies, blocks = 1500, 8
	truth := []float64{9e6, 40e3, 2, 1}
	rng := rand.New(rand.NewPCG(17, 1))
	covered, bias := make([]int, len(truth)), make([]float64, len(truth))
	for range studies {
		fits := make([][]float64, len(truth))
		for range blocks {
			rows, ys := memoryTrials(rng, truth, 0.03)
			c, err := RelativeLeastSquares(rows, ys)
			if err != nil {
				t.Fatal(err)
			}
			for j := range c {
				fits[j] = append(fits[j], c[j])
			}
		}
		for j, want := range truth {
			e, _ := ArithmeticMean(fits[j])
			bias[j] += (e.Point/want - 1) / studies
			if e.Low <= want && want <= e.High {
				covered[j]++
			}
		}
	}
	for j, want := range truth {
		share := float64(covered[j]) / studies
		t.Logf("coefficient %v: coverage %.1f %%, bias %+.3f %%", want, 100*share, 100*bias[j])
		if share < 0.93 || share > 0.97 || math.Abs(bias[j]) > 0.005 {
			t.Errorf("coefficient %v: coverage %.3f, bias %.4f", want, share, bias[j])
		}
	}
}

// memoryTrials invents a block of trials: memory by connections and two buffer
// sizes, with noise in proportion and a drift that the block shares.
func memoryTrials(rng *rand.Rand, truth []float64, sd float64) (rows [][]float64, ys []float64) {
	drift := 0.01 * rng.NormFloat64()
	for _, n := range []float64{1, 10, 100, 1000} {
		for _, w := range []float64{0, 32 << 10, 128 << 10} {
			for _, r := range []float64{0, 32 << 10, 128 << 10} {
				row := []float64{1, n, n * w, n * r}
				rows, ys = append(rows, row), append(ys, Linear(row, truth)*math.Exp(drift+sd*rng.NormFloat64()))
			}
		}
	}
	return rows, ys
}

func TestArithmeticMeanGolden(t *testing.T) {
	e, ok := ArithmeticMean([]float64{2, 4, 9}) // mean 5, sd √13, t(2) 4.30265273
	if !ok {
		t.Fatal("no mean")
	}
	half := 4.30265273 * math.Sqrt(13.0/3)
	checkAll(t, "mean", []float64{e.Point, e.Low, e.High}, []float64{5, 5 - half, 5 + half})
	for _, bad := range [][]float64{nil, {1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if _, ok := ArithmeticMean(bad); ok {
			t.Errorf("%v has a mean with an interval", bad)
		}
	}
}

// With noise in proportion and a long tail, the fit of logarithms finds the line of the
// medians, and that of relative residuals another one.
func TestLogLeastSquaresFitsGeometricMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var rows [][]float64
	var ys []float64
	for i := range 20_000 {
		x := float64(i%10) * 100
		rows = append(rows, []float64{1, x})
		ys = append(ys, (15+0.2*x)*math.Exp(0.5*rng.NormFloat64()))
	}
	logs, err := LogLeastSquares(rows, ys)
	if err != nil {
		t.Fatal(err)
	}
	relative, err := RelativeLeastSquares(rows, ys)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(logs[0]/15-1) > 0.03 || math.Abs(logs[1]/0.2-1) > 0.03 || math.Abs(relative[0]/15-1) < 0.05 {
		t.Errorf("by logarithms %v, by relative residuals %v; planted 15 and 0.2", logs, relative)
	}
	if _, err := LogLeastSquares([][]float64{{1, 2}, {1, 2}, {1, 2}}, []float64{1, 2, 3}); err == nil {
		t.Error("a factor that does not vary was fitted")
	}
}

// A column's rise is what the fit without it misses more.
func TestRisesAreThoseOfFitsWithoutAColumn(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows, ys, scale := make([][]float64, 12), make([]float64, 12), make([]float64, 12)
	for i := range rows {
		rows[i] = []float64{1, rng.Float64() * 1e6, rng.Float64(), rng.Float64() * 1e-3}
		ys[i], scale[i] = 3+2e-6*rows[i][1]+rng.NormFloat64(), 0.5+rng.Float64()
	}
	missed := func(rows [][]float64) float64 {
		c, err := LeastSquares(rows, ys, scale)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, row := range rows {
			off := scale[i] * (ys[i] - Linear(row, c))
			sum += off * off
		}
		return sum
	}
	rises, err := Rises(rows, ys, scale)
	if err != nil {
		t.Fatal(err)
	}
	for j, got := range rises {
		var without [][]float64
		for _, row := range rows {
			without = append(without, slices.Delete(slices.Clone(row), j, j+1))
		}
		if want := missed(without) - missed(rows); math.Abs(got-want) > 1e-9*(1+want) {
			t.Errorf("column %d: the sum rises by %v, without it by %v", j, got, want)
		}
	}
}
