package profile

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// probesOf are what some probes of an arm spent, by place.
func probesOf(t *rapid.T, name string, n int) []*costs {
	functions := []string{"runtime.mallocgc", "net.(*conn).Write", "main.walk"}
	all := make([]*costs, n)
	for i := range all {
		c := &costs{activity: make([]float64, len(classes)), flat: map[place]float64{}}
		for a := range classes {
			for _, f := range functions {
				spent := rapid.Float64Range(0, 10).Draw(t, name)
				c.flat[place{a, f}] = spent
				c.activity[a] += spent
				c.whole += spent
			}
		}
		all[i] = c
	}
	return all
}

// What differs by activity sums to what differs altogether, whatever was sampled; a
// difference lies in its interval, and one that is told apart lies off zero.
func TestActivitiesSumToTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "pairs")
		of, against := probesOf(t, "arm", n), probesOf(t, "base", n)
		whole := changes(of, against, []place{{activity: wholly}}, func(c *costs, _ place) float64 { return c.whole })[0]
		parts := changes(of, against, activitiesOf(of, against), func(c *costs, at place) float64 { return c.activity[at.activity] })
		sum := 0.0
		for _, c := range append(parts, whole) {
			if c.Name != "" {
				sum += c.Difference
			}
			if c.Low > c.Difference+1e-9 || c.High < c.Difference-1e-9 || n < fewestPairs && (c.Told || c.Low != c.High) {
				t.Fatalf("of %d pairs: %+v", n, c)
			}
			if c.Told && c.Low < 0 && c.High > 0 {
				t.Fatalf("%+v is told apart from nothing, and its interval holds nothing", c)
			}
		}
		if math.Abs(sum-whole.Difference) > 1e-6 {
			t.Fatalf("activities sum to %v, the whole is %v", sum, whole.Difference)
		}
	})
}

// A function is looked at for what it costs, in either arm, and each one once.
func TestFunctionsAreThoseThatCost(t *testing.T) {
	at := func(name string) place { return place{activity: 1, function: name} }
	of := []*costs{{whole: 100, flat: map[place]float64{at("much"): 60, at("little"): 0.1, at("here"): 30}}}
	against := []*costs{{whole: 100, flat: map[place]float64{at("much"): 60, at("little"): 0.1, at("there"): 30}}}
	got := functionsOf(of, against)
	if len(got) != 3 || got[0].function != "here" || got[1].function != "much" || got[2].function != "there" {
		t.Errorf("%v", got)
	}
}
