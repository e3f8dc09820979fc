package stat

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// logRatio draws what a log ratio can be: a figure has some ten digits, so two
// of them do not differ by a part in a billion.
var logRatio = rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-5000, 5000).Draw(t, "x")) / 5000 })

// One comparison is a plain sign flip: |t| rises with |sum| when the squares
// are given.
func TestStepDownOfOneIsSignFlip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOfN(logRatio, 2, 10).Draw(t, "xs")
		if got, want := StepDown([][]float64{xs})[0], SignFlip(xs); math.Abs(got-want) > 1e-12 {
			t.Fatalf("StepDown %v, SignFlip %v", got, want)
		}
	})
}

func TestStepDownIsAnAdjustment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks := rapid.IntRange(2, 8).Draw(t, "blocks")
		var rows [][]float64
		for range rapid.IntRange(1, 6).Draw(t, "rows") {
			rows = append(rows, rapid.SliceOfN(logRatio, blocks, blocks).Draw(t, "row"))
		}
		for i, p := range StepDown(rows) {
			if raw := SignFlip(rows[i]); p < raw-1e-12 || p > 1 || p < MinP(blocks)-1e-12 {
				t.Fatalf("row %d: adjusted %v of raw %v with %d blocks", i, p, raw, blocks)
			}
		}
	})
}

// Six blocks settle a clear effect in a family of ten; Holm could not below p = 0.31.
func TestStepDownKeepsTheLeastP(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	rows := make([][]float64, 10)
	for i := range rows {
		for range 6 {
			rows[i] = append(rows[i], 0.01*rng.NormFloat64())
		}
	}
	for b := range rows[0] {
		rows[0][b] += 0.5
	}
	if p := StepDown(rows)[0]; p != 2.0/64 {
		t.Errorf("adjusted p %v, want 2/64", p)
	}
}

func TestStepDownPassesOverMissingBlocks(t *testing.T) {
	nan := math.NaN()
	p := StepDown([][]float64{{0.5, 0.6, nan, 0.4, 0.5}, {nan, nan, nan, nan, nan}})
	if p[0] != 2.0/16 || p[1] != 1 {
		t.Errorf("adjusted %v, want 2/16 from four blocks and 1 from none", p)
	}
}

// The chance of even one false difference among nine comparisons with one
// baseline, in 600 studies without any difference: 5 % with a standard error
// of 0.9 %.
func TestStepDownFamilywiseError(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, blocks := range []int{6, 8} {
		false1, studies := 0, 600
		for range studies {
			rows := make([][]float64, 9)
			for i := range rows {
				rows[i] = make([]float64, blocks)
			}
			for b := range blocks {
				for cell := range 3 {
					base := rng.NormFloat64()
					for arm := range 3 {
						rows[cell*3+arm][b] = rng.NormFloat64() - base
					}
				}
			}
			for _, p := range StepDown(rows) {
				if p <= 0.05 {
					false1++
					break
				}
			}
		}
		rate := float64(false1) / float64(studies)
		t.Logf("%d blocks: at least one false difference in %.3f of studies", blocks, rate)
		if rate > 0.05+3*0.009 {
			t.Errorf("%d blocks: %.3f of studies without a difference find one", blocks, rate)
		}
	}
}
