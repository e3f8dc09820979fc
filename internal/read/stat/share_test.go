package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// Shares of parts that add up to the whole add up to 1, and each lies in its
// interval; none is given where the whole's own interval holds 0.
func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 12).Draw(t, "blocks")
		parts := make([][]float64, rapid.IntRange(1, 5).Draw(t, "parts"))
		wholes := make([]float64, n)
		apart := rapid.SampledFrom([]float64{0, 4}).Draw(t, "apart") // how far the whole surely lies from 0
		for k := range parts {
			parts[k] = make([]float64, n)
			for i := range parts[k] {
				parts[k][i] = rapid.Float64Range(-2, 2).Draw(t, "part") + apart
				wholes[i] += parts[k][i]
			}
		}
		whole, _ := MeanAt(wholes, 0.05)
		sum := 0.0
		for k := range parts {
			e, ok := ShareAt(parts[k], wholes, 0.05)
			if ok && whole.Low <= 0 && whole.High >= 0 {
				t.Fatalf("a share %+v of a whole %+v that may be nothing", e, whole)
			}
			if !ok && apart > 0 && whole.Low > 1e-3 {
				t.Fatalf("no share of %+v", whole)
			}
			if !ok {
				return
			}
			if !(e.Low <= e.Point && e.Point <= e.High) {
				t.Fatalf("%+v lies outside its interval", e)
			}
			sum += e.Point
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Fatalf("the shares add up to %v", sum)
		}
	})
}

// The interval is the one that its definition gives: at its ends Student's t is
// just told from 0.
func TestAShareEndsWhereItsTestDoes(t *testing.T) {
	parts, wholes := []float64{0.31, 0.42, 0.28, 0.36, 0.33, 0.40}, []float64{1.02, 1.1, 0.95, 1.08, 0.99, 1.05}
	e, ok := ShareAt(parts, wholes, 0.05)
	if !ok {
		t.Fatal("no share")
	}
	for _, share := range []float64{e.Low, e.High} {
		left := make([]float64, len(parts))
		for i := range parts {
			left[i] = parts[i] - share*wholes[i]
		}
		if m, _ := MeanAt(left, 0.05); math.Abs(m.Low)*math.Abs(m.High) > 1e-12 {
			t.Errorf("at %v the mean of what is left is %+v, and one end should be 0", share, m)
		}
	}
}

// covered counts in how many of 100 simulations an interval holds the truth.
func covered(runs int, held func(*rand.Rand) bool) float64 {
	rng, n := rand.New(rand.NewPCG(3, 9)), 0
	for range runs {
		if held(rng) {
			n++
		}
	}
	return 100 * float64(n) / float64(runs)
}

// Four arms of one block share its drift; each has noise of its own. Intervals of
// shares and of differences hold the truth, and where nothing differs there is
// seldom a share.
func TestSharesAndDifferencesCover(t *testing.T) {
	truth := []float64{40, 44, 70, 120}
	for _, blocks := range []int{6, 8, 16} {
		draw := func(rng *rand.Rand, means []float64) [][]float64 {
			logs := make([][]float64, len(means))
			for range blocks {
				drift := 0.1 * rng.NormFloat64()
				for k, mean := range means {
					logs[k] = append(logs[k], math.Log(mean)+drift+0.03*rng.NormFloat64())
				}
			}
			return logs
		}
		less := func(a, b []float64) []float64 {
			d := make([]float64, len(a))
			for i := range a {
				d[i] = a[i] - b[i]
			}
			return d
		}
		share := covered(2000, func(rng *rand.Rand) bool {
			logs := draw(rng, truth)
			e, ok := ShareAt(less(logs[2], logs[1]), less(logs[3], logs[0]), 0.05)
			want := math.Log(truth[2]/truth[1]) / math.Log(truth[3]/truth[0])
			return ok && e.Low <= want && want <= e.High
		})
		difference := covered(2000, func(rng *rand.Rand) bool {
			logs := draw(rng, truth)
			e, ok := DifferenceOfMeans(logs[2], logs[1], 0.05)
			return ok && e.Low <= truth[2]-truth[1] && truth[2]-truth[1] <= e.High
		})
		none := covered(2000, func(rng *rand.Rand) bool {
			logs := draw(rng, []float64{40, 40, 40, 40})
			_, ok := ShareAt(less(logs[2], logs[1]), less(logs[3], logs[0]), 0.05)
			return !ok
		})
		t.Logf("%2d blocks: shares cover in %.1f of 100, differences in %.1f; no share of nothing in %.1f", blocks, share, difference, none)
		if share < 93 || difference < 93 || none < 93.5 {
			t.Errorf("%d blocks: %.1f, %.1f and %.1f of 100", blocks, share, difference, none)
		}
	}
}
