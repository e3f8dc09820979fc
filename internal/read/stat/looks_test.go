package stat

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestLookLevels(t *testing.T) {
	const tenth = 0.005 // of 0.05, for looks that a run does not take by itself
	for _, c := range []struct {
		blocks []int
		own    int
		want   []float64
	}{
		{[]int{8}, 8, []float64{0.05}},
		{[]int{8, 32}, 8, []float64{0.045, tenth}},
		{[]int{8, 16, 32}, 32, []float64{0.0125, 0.0125, 0.025}}, // as the blocks grow
		{[]int{8, 16, 32, 128}, 32, []float64{0.01125, 0.01125, 0.0225, tenth}},
		{[]int{8, 16, 64, 128}, 16, []float64{0.0225, 0.0225, 0.005 * 48 / 112, 0.005 * 64 / 112}},
		{[]int{8, 16, 32, 64, 128}, 128, []float64{2. / 256, 0.0421875 / 15, 0.0421875 * 2 / 15, 0.0421875 * 4 / 15, 0.0421875 * 8 / 15}}, // the least that eight blocks can give
		{[]int{6, 10, 16, 26, 42}, 16, []float64{1. / 32, 0.4 * (0.045 - 1./32), 0.6 * (0.045 - 1./32), 0.005 * 10 / 26, 0.005 * 16 / 26}},
		{[]int{6, 7}, 7, []float64{0.05 - 1./64, 1. / 64}}, // the last look keeps its least p of 1/64
		{[]int{5, 8}, 8, []float64{0, 0.05}},               // five blocks cannot reach 0.05
		{[]int{5, 20}, 5, []float64{0, 0.05}},              // nor can a run of five by itself
		{[]int{2, 8}, 2, []float64{0, 0.05}},
		{[]int{5, 6, 8}, 8, []float64{0, 0.0375, 0.0125}}, // their part goes to those after them
		{[]int{2, 8, 16}, 16, []float64{0, 0.025, 0.025}},
		{[]int{2, 3}, 3, []float64{0, 0.05}},
	} {
		checkAll(t, "levels", LookLevels(c.blocks, c.own, 0.05), c.want)
	}
	if got := LookLevels(nil, 8, 0.05); got != nil {
		t.Errorf("levels of no looks: %v", got)
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
		sum, own := 0.0, rapid.SampledFrom(blocks).Draw(t, "own")
		for k, level := range LookLevels(blocks, own, 0.05) {
			sum += level
			least := MinP(blocks[k])
			last := k == len(blocks)-1 || blocks[k] == own
			if level < 0 || level > 0 && level < least && k < len(blocks)-1 {
				t.Fatalf("%v: look %d has level %v, its least p is %v", blocks, k+1, level, least)
			}
			if last && least <= 0.004 && level < least {
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
