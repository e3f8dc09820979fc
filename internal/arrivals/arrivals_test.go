package arrivals

import (
	"math"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
)

func TestCanonicalTexts(t *testing.T) {
	for text, want := range map[string]string{
		"constant": "constant", "poisson": "poisson", "gamma:cv=2.0": "gamma:cv=2",
		"burst:on=10ms, off=90ms": "burst:on=10ms,off=90ms", "steps:1k,5000,20k/10s": "steps:1000,5000,20000/10s",
		"ramp:1k..50k/30s": "ramp:1000..50000/30s",
	} {
		a, err := Parse(text)
		if err != nil || a.Text != want || a.Words == "" {
			t.Errorf("%s: %+v, %v; want %s", text, a, err, want)
			continue
		}
		if again, err := Parse(a.Text); err != nil || again.Text != a.Text {
			t.Errorf("%s reads back as %+v, %v", a.Text, again, err)
		}
		l := contract.Load{Rate: 5000}
		a.Enter(&l)
		if err := draw.CheckPhases(l.Phases); err != nil || l.Arrival == "" {
			t.Errorf("%s: %+v, %v", text, l, err)
		}
		if len(l.Phases) > 0 { // whose mean the rate is
			w, lasts := draw.NewWarp(l.Phases, false), 0.0
			for _, p := range l.Phases {
				lasts += p[0]
			}
			if mean := w.Place(lasts) / lasts * 1e9; math.Abs(mean/l.Rate-1) > 1e-9 {
				t.Errorf("%s: the phases have a mean rate of %v, the load %v", text, mean, l.Rate)
			}
		}
	}
}

// Gamma gaps have the mean and the coefficient of variation that were asked for, and of
// cv=1 they are exponential.
func TestGammaGaps(t *testing.T) {
	for _, cv := range []float64{0.2, 0.5, 1, 2, 5, 10} {
		table := gammaGaps(cv)
		if err := table.Check(draw.MostGap); err != nil {
			t.Fatal(err)
		}
		mean := table.Mean() / draw.GapUnit
		got := math.Sqrt(table.Variance()) / table.Mean()
		if math.Abs(mean-1) > 0.003 || math.Abs(got/cv-1) > 0.01 {
			t.Errorf("cv=%v: mean %v, cv %v", cv, mean, got)
		}
	}
	for _, x := range []float64{0.001, 0.5, 1, 3, 9} {
		if got, want := gammaBelow(1, x), 1-math.Exp(-x); math.Abs(got-want) > 1e-12 {
			t.Errorf("below %v: %v, want %v", x, got, want)
		}
	}
	// 13.4 and 26.7 of chi squared with 20 degrees of freedom, tabulated.
	if got := gammaBelow(10, 12.443/2); math.Abs(got-0.1) > 1e-4 {
		t.Errorf("a chi square of 12.443 with 20 degrees of freedom: %v, want 0.1", got)
	}
}

func TestWrongArrivalsTeach(t *testing.T) {
	for text, words := range map[string]string{
		"poison": "poisson", "gamma": "gamma:cv=2", "gamma:cv=0": "0.2 to 10", "gamma:sd=2": "cv",
		"burst:on=10ms": "off", "burst:off=1s,on=1s": "on=TIME", "burst:on=0s,off=1s": "out of range",
		"steps:1k,2k": "slash", "steps:0,0/1s": "every rate is 0", "ramp:1k/30s": "first and the last", "ramp:1k..2k..3k/1s": "3 rates",
		"steps:1k,x/1s": "x", "ramp:1..9999999999/1s": "1e9",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", text, err, words)
		}
	}
}
