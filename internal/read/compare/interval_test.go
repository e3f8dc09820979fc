package compare

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
)

// A reader can read the verdict off the printed interval. Of enough blocks and with a
// direction, better or worse is exactly an interval that is shown and lies beyond the
// bound, equivalent one inside the margin, and whatever else is open; the adjusted p
// says the same. An interval has the confidence that is printed with it.
func TestTheIntervalIsTheVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		level := rapid.SampledFrom([]float64{cells.Level, 1. / 32, 2. / 512}).Draw(t, "level")
		var family []*Pending
		for range rapid.IntRange(1, 12).Draw(t, "family") {
			centre, spread := rapid.Float64Range(-0.3, 0.3).Draw(t, "centre"), rapid.SampledFrom([]float64{0, 0.002, 0.01, 0.05, 0.5, 3}).Draw(t, "spread")
			var ratios []float64
			for range rapid.IntRange(LeastBlocks(level), 14).Draw(t, "blocks") {
				ratios = append(ratios, math.Exp(centre+spread*rapid.Float64Range(-1, 1).Draw(t, "block")))
			}
			b := pending(ratios, rapid.SampledFrom([]float64{0.02, 0.05, 0.2}).Draw(t, "bound"))
			b.Level = level
			family = append(family, b)
		}
		ShareLevel(family)
		open := 0
		for _, b := range family {
			b.Judge()
			outside, inside := b.Low > 1+b.Bound || b.High < 1/(1+b.Bound), b.Low >= 1/1.02 && b.High <= 1.02
			want := CannotTell
			switch {
			case !cells.Known(b.Blocks, b.Ratio, b.Low, b.High):
			case inside:
				want = Equivalent
			case outside && b.Ratio > 1:
				want = Worse
			case outside:
				want = Better
			}
			if b.Verdict != want {
				t.Fatalf("%s (%s), want %s of %v–%v with bound %v", b.Verdict, b.Reason, want, b.Low, b.High, b.Bound)
			}
			if (b.Adjusted <= b.Level) != outside && math.Abs(b.Adjusted-b.Level) > 1e-9 {
				t.Fatalf("adjusted p %v at level %v of %v–%v with bound %v", b.Adjusted, b.Level, b.Low, b.High, b.Bound)
			}
			if e, _ := b.Pairs.EstimateAt(b.Interval); e.Low != b.Low || e.High != b.High || b.Interval > b.Level {
				t.Fatalf("%v–%v is not the interval of confidence %v", b.Low, b.High, 1-b.Interval)
			}
			if b.Low <= 1+b.Bound && b.High >= 1/(1+b.Bound) && !inside {
				open++
			}
		}
		for _, b := range family { // what is open shares the level among itself
			if b.Low <= 1+b.Bound && b.High >= 1/(1+b.Bound) && b.Verdict != Equivalent && b.Interval != level/float64(open) {
				t.Fatalf("an open interval has %v of %v, and %d are open", b.Interval, level, open)
			}
		}
	})
}

// A claim on a figure that has a verdict rests on that verdict's interval, whichever of
// the two arms it divides by.
func TestJudgedAtFindsAPairEitherWayRound(t *testing.T) {
	levels := JudgedAt([]Comparison{
		{Cell: "c", Metric: "m", Arm: "b", Base: "a", Primary: true, Ratio: 2, Interval: 0.01},
		{Cell: "c", Metric: "n", Arm: "b", Base: "a", Ratio: 2, Interval: 0.05},
	})
	if levels.Of("c", "m", "a", "b") != 0.01 || levels.Of("c", "m", "b", "a") != 0.01 || levels.Of("c", "n", "b", "a") != 0 || levels.Of("d", "m", "b", "a") != 0 {
		t.Errorf("levels %v", levels)
	}
}

// The forecast counts the blocks that will be lost, and names more than have run.
func TestForecastsCountLostBlocks(t *testing.T) {
	for _, c := range []struct{ needed, have, ran, want int }{{9, 5, 10, 18}, {9, 10, 10, 11}, {12, 10, 10, 12}, {9, 8, 10, 12}, {0, 5, 10, 0}, {9, 0, 10, 0}, {600, 5, 10, 0}} {
		if got := InAll(c.needed, c.have, c.ran); got != c.want {
			t.Errorf("%d blocks with a figure, after %d of %d: %d in all, want %d", c.needed, c.have, c.ran, got, c.want)
		}
	}
	b := pending(around(1.05, 0.06, 8), 0.02)
	b.Better, b.Of = metric.Higher, 16
	b.Pairs.Effects[0] += 0.2
	ShareLevel([]*Pending{b})
	b.Judge()
	b.decide(outlook{})
	if b.Verdict != CannotTell || b.NeedsMore < 18 || b.NeedsMore%2 != 0 {
		t.Errorf("%s after 8 of 16 blocks: %d blocks, want more than 16, twice what it takes", b.Verdict, b.NeedsMore)
	}
}
