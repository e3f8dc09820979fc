package finding_test

import (
	"math"
	"strings"
	"testing"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/synthetic"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// chosen runs arms of different speed and memory through Find with one choice.
func chosen(t *testing.T, spec record.Choice) view.Choice {
	t.Helper()
	memory := map[string]float64{"small": 20e6, "middle": 60e6, "large": 300e6}
	o := synthetic.Options{
		Bare: true, Connections: []int{50}, SD: 0.005, BlockSD: 0.2, Blocks: 8, Primary: []string{rate},
		Arms:   []synthetic.Arm{{Name: "small", Speed: 0.7}, {Name: "middle", Speed: 0.97}, {Name: "large", Speed: 1}},
		Memory: func(levels map[string]string) float64 { return memory[levels["server"]] },
	}
	h, trials, records := synthetic.Run(o)
	h.Study.Choices = []record.Choice{spec}
	f := find(t, h, trials, records)
	if len(f.Choices) != 1 {
		t.Fatalf("%d choices, want 1", len(f.Choices))
	}
	return f.Choices[0]
}

func within(metric string, value float64, atLeast bool) record.Bound {
	return record.Bound{Text: "the bound", Metric: metric, Value: value, AtLeast: atLeast}
}

// The choice is the best that surely keeps the bound, beside the best of all, and
// their ratios are those within blocks, which drift by 20 %.
func TestAChoiceIsTheBestWithinItsBounds(t *testing.T) {
	c := chosen(t, record.Choice{Best: rate, Within: []record.Bound{within(idleRSS, 100e6, false)}})
	if c.Reason != "" || c.Chosen == nil {
		t.Fatalf("no choice: %q", c.Reason)
	}
	if c.Chosen.Arm != "middle" || c.Best.Arm != "large" {
		t.Errorf("chosen %s, best %s; want middle and large", c.Chosen.Arm, c.Best.Arm)
	}
	if r := c.Chosen.Ratio; math.Abs(r.Value-0.97) > 0.02 || r.Low > r.Value || r.High < r.Value {
		t.Errorf("the choice has %+v of the best, want about 0.97 inside its interval", r)
	}
	if r := c.Chosen.Bounds[0].Ratio; math.Abs(r.Value-0.2) > 0.03 {
		t.Errorf("the choice has %+v of the best's memory, want about 0.2", r)
	}
	for _, want := range []string{"Choose middle", "that keeps", "≤ the bound", "below large", "at 0.200× its"} {
		if !strings.Contains(c.Sentence, want) {
			t.Errorf("the sentence lacks %q: %s", want, c.Sentence)
		}
	}
}

func TestTheBestOfAllMayKeepTheBounds(t *testing.T) {
	c := chosen(t, record.Choice{Best: rate, Within: []record.Bound{within(idleRSS, 900e6, false)}})
	if c.Chosen == nil || c.Chosen.Arm != "large" || !strings.Contains(c.Sentence, "the best of all") {
		t.Errorf("chosen %+v: %s", c.Chosen, c.Sentence)
	}
}

// A bound that nothing surely keeps leaves no choice, and says what is best
// without it.
func TestABoundThatNothingKeeps(t *testing.T) {
	c := chosen(t, record.Choice{Best: rate, Within: []record.Bound{within(idleRSS, 1e6, false)}})
	if c.Chosen != nil || !strings.HasPrefix(c.Sentence, "Nothing is sure to keep") || !strings.Contains(c.Sentence, "large") {
		t.Errorf("chosen %+v: %s", c.Chosen, c.Sentence)
	}
	for _, o := range c.Options {
		if o.Bounds[0].State != compare.Broken {
			t.Errorf("%s: the bound is %s, want broken", o.Arm, o.Bounds[0].State)
		}
	}
}

// Of a metric of which more is better a bound is the least; the cheapest is chosen
// that still reaches it.
func TestTheCheapestThatReachesARate(t *testing.T) {
	fast := chosen(t, record.Choice{Best: rate, Within: []record.Bound{within(idleRSS, 900e6, false)}})
	least := 0.85 * fast.Best.Figure.Value
	c := chosen(t, record.Choice{Best: idleRSS, Within: []record.Bound{within(rate, least, true)}})
	if c.Chosen != nil && c.Chosen.Arm == "small" {
		t.Errorf("chosen %s, which does not reach %g", c.Chosen.Arm, least)
	}
	if c.Best.Arm != "small" {
		t.Errorf("the least memory is of %s, want small", c.Best.Arm)
	}
}

// Where an interval contains the bound, an option is only perhaps within it.
func TestABoundInsideAnIntervalIsOpen(t *testing.T) {
	first := chosen(t, record.Choice{Best: rate, Within: []record.Bound{within(idleRSS, 100e6, false)}})
	inside := first.Best.Bounds[0].Figure.Value
	c := chosen(t, record.Choice{Best: rate, Within: []record.Bound{within(idleRSS, inside, false)}})
	if c.Best.Bounds[0].State != compare.Undecided || c.Chosen.Arm != "middle" || !strings.Contains(c.Sentence, "perhaps within the bounds: large") {
		t.Errorf("bound %s, chosen %s: %s", c.Best.Bounds[0].State, c.Chosen.Arm, c.Sentence)
	}
}
