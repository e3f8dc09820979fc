package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// curve draws, in 8 blocks, a difference that rises with slope over ln x and is 0
// at 300.
func curve(rng *rand.Rand, slope, sd float64, xs ...float64) []At {
	places := make([]At, len(xs))
	for i, x := range xs {
		places[i] = At{X: x, Blocks: map[int]float64{}}
		for b := range 8 {
			places[i].Blocks[b] = slope*math.Log(x/300) + sd*rng.NormFloat64()
		}
	}
	return places
}

func TestCrossingIsFoundWhereItIs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	places := curve(rng, 0.2, 1e-6, 50, 1000, 10000)
	c, ok := Crossing(places, 0, 1, 0.05)
	if !ok || math.Abs(c.Point-300) > 3 || c.High-c.Low > 10 {
		t.Errorf("without noise: %+v, %t; want 300", c, ok)
	}
	if _, ok := Crossing([]At{{X: 0, Blocks: places[0].Blocks}, places[1]}, 0, 1, 0.05); ok {
		t.Error("a logarithm of 0 was taken")
	}
}

// The interval holds the true place in at least 95 % of runs.
func TestCrossingCovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	held, asked := 0, 0
	for range 600 {
		places := curve(rng, 0.2, 0.08, 50, 1000, 10000)
		signs, ok := Signs(places, 0.05)
		if !ok || signs[0].Sign() != -1 || signs[1].Sign() != 1 {
			continue
		}
		c, ok := Crossing(places, 0, 1, 0.05)
		if !ok || !(c.Low <= c.Point && c.Point <= c.High) || c.Low < 50 || c.High > 1000 {
			t.Fatalf("%+v, %t", c, ok)
		}
		asked++
		if c.Low <= 300 && 300 <= c.High {
			held++
		}
	}
	if asked < 300 || float64(held) < 0.95*float64(asked) {
		t.Errorf("%d of %d intervals hold the place", held, asked)
	}
}

// Two curves that are the same lie apart, at any place, in at most 5 % of runs.
func TestSignsErrTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	wrong := 0
	for range 1000 {
		signs, ok := Signs(curve(rng, 0, 0.05, 1, 2, 4, 8, 16), 0.05)
		if !ok {
			t.Fatal("no intervals")
		}
		for _, e := range signs {
			if e.Sign() != 0 {
				wrong++
				break
			}
		}
	}
	if wrong > 70 { // 50 expected, three standard deviations are 21
		t.Errorf("%d of 1000", wrong)
	}
	if _, ok := Signs([]At{{X: 1, Blocks: map[int]float64{1: 1}}}, 0.05); ok {
		t.Error("one block has an interval")
	}
}
