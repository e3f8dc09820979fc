package stat

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestLookLevels(t *testing.T) {
	for _, c := range []struct {
		blocks []int
		want   []float64
	}{
		{[]int{8}, []float64{0.05}},
		{[]int{6, 10, 16}, []float64{1. / 32, 4. / 512, 0.05 - 1./32 - 4./512}}, // the least that six blocks can give, then even shares
		{[]int{8, 16}, []float64{4. / 128, 0.05 - 4./128}},                      // five eighths of 0.05
		{[]int{7, 11}, []float64{2. / 64, 0.05 - 2./64}},                        // so that six of the seven blocks can decide
		{[]int{6, 7}, []float64{1. / 32, 0.05 - 1./32}},                         // the last look keeps its least p of 1/64
		{[]int{5, 8}, []float64{0, 0.05}},                                       // five blocks cannot reach 0.05
		{[]int{5, 6, 8}, []float64{0, 1. / 32, 0.05 - 1./32}},
		{[]int{2, 3}, []float64{0, 0.05}},
	} {
		checkAll(t, "levels", LookLevels(c.blocks, 0.05), c.want)
	}
	if got := LookLevels(nil, 0.05); got != nil {
		t.Errorf("levels of no looks: %v", got)
	}
}

// Each look of the plan that studies have by themselves can decide, the further
// ones too.
func TestEveryLookOfTheStandardPlanCanDecide(t *testing.T) {
	looks := []int{6, 10, 16, 26, 42}
	sum := 0.0
	for k, level := range LookLevels(looks, 0.05) {
		sum += level
		if level < 2*MinP(looks[k]) && k > 0 || level < MinP(looks[k]) || level < 0.0039 {
			t.Errorf("look %d of %d blocks has level %v, its least p is %v", k+1, looks[k], level, MinP(looks[k]))
		}
	}
	if sum > 0.05 || sum < 0.0499 {
		t.Errorf("the levels sum to %v", sum)
	}
}

// Whatever the looks, no more than the level is spent, and a look either can
// decide or has level 0.
func TestLookLevelsNeverOverspend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var blocks []int
		for n := range rapid.IntRange(1, 5).Draw(t, "looks") {
			blocks = append(blocks, rapid.IntRange(2, 60).Draw(t, "more"))
			if n > 0 {
				blocks[n] += blocks[n-1]
			}
		}
		sum := 0.0
		for k, level := range LookLevels(blocks, 0.05) {
			sum += level
			least := MinP(blocks[k])
			if level < 0 || level > 0 && level < least && k < len(blocks)-1 {
				t.Fatalf("%v: look %d has level %v, its least p is %v", blocks, k+1, level, least)
			}
			if k == len(blocks)-1 && least <= 0.05 && level < least {
				t.Fatalf("%v: the last look has level %v, its least p is %v", blocks, level, least)
			}
		}
		if sum > 0.05*(1+1e-9) {
			t.Fatalf("%v: levels sum to %v", blocks, sum)
		}
	})
}

// At the standard level the interval is the standard interval, to the bit: a
// study with one look keeps its figures.
func TestStandardLevelIsTheStandardInterval(t *testing.T) {
	ratios := []float64{1.2, 0.9, 1.07, 1.01, 1.3, 0.95}
	for n := 2; n <= len(ratios); n++ {
		want, _ := GeometricMean(ratios[:n])
		if got, ok := GeometricMeanAt(ratios[:n], 0.05); !ok || got != want {
			t.Errorf("%d ratios: %v, want %v", n, got, want)
		}
	}
	wide, _ := GeometricMeanAt(ratios, 0.01)
	standard, _ := GeometricMean(ratios)
	if wide.Low >= standard.Low || wide.High <= standard.High || wide.Point != standard.Point {
		t.Errorf("at level 0.01: %v, at 0.05: %v", wide, standard)
	}
	if _, ok := GeometricMeanAt([]float64{1, math.NaN()}, 0.05); ok {
		t.Error("an estimate of what is no number")
	}
}
