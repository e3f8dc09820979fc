// Package capacity finds the highest rate that each arm of a study carries while it
// meets an objective. It is pure: Next decides from the records so far which rate is
// tried next, and Read says what a run found.
//
// A window at a rate meets the objective or does not (outcome.go). From all outcomes
// follows how probable each capacity is (posterior.go), from that the next rate
// (search.go) and how long its window is (windows.go).
package capacity

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Capacity is what a search found.
type Capacity struct {
	Spec   record.Capacity `json:"spec"`
	Arms   []Arm           `json:"arms"`             // by cell and arm, in the study's order
	Ratios []Ratio         `json:"ratios,omitempty"` // of arms to the baseline in their cell, where both have a capacity
}

// Arm is one arm in one cell. It has a capacity, or Why says why it has none.
type Arm struct {
	Cell     string        `json:"cell,omitempty"`
	Arm      string        `json:"arm"`
	Rate     *Estimate     `json:"rate,omitempty"`     // exchanges per second; nil for none
	AtLeast  bool          `json:"at_least,omitempty"` // the generator's own limit ended the search: the server carries Rate.Point or more
	Why      string        `json:"why,omitempty"`      // there is no capacity: a sentence's end
	Wide     bool          `json:"wide,omitempty"`     // the interval is wider than the study asked for
	Short    bool          `json:"short,omitempty"`    // windows were shorter than the objective needs
	Spread   float64       `json:"spread,omitempty"`   // by which share of the rate single windows scatter
	ClosedS  float64       `json:"closed_per_s,omitempty"`
	Limit    trial.Limit   `json:"limit,omitempty"` // at the capacity
	LimitOf  contract.Role `json:"limit_of,omitempty"`
	Proof    string        `json:"proof,omitempty"`
	Tries    []Try         `json:"tries,omitempty"` // as they ran
	UsedS    float64       `json:"used_s"`          // that its trials took
	LongestS float64       `json:"longest_s"`       // of its windows

	posterior posterior
}

// Estimate is a figure with its interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Ratio is the capacity of an arm divided by that of the baseline.
type Ratio struct {
	Cell string `json:"cell,omitempty"`
	Arm  string `json:"arm"`
	Base string `json:"base"`
	Estimate
}

func estimateOf(e stat.Estimate) Estimate { return Estimate{Value: e.Point, Low: e.Low, High: e.High} }

// Read says what a run found; nil of a study that searches for no capacity.
func Read(s *cells.Dataset) *Capacity {
	spec := s.Header.Study.Capacity
	if spec == nil || len(spec.Objective) == 0 {
		return nil
	}
	c := &Capacity{Spec: *spec}
	for _, a := range seriesOf(s) {
		c.Arms = append(c.Arms, a.read())
	}
	base := s.Header.Study.Compare.Baseline
	for _, a := range c.Arms {
		i := slices.IndexFunc(c.Arms, func(b Arm) bool { return b.Cell == a.Cell && b.Arm == base })
		if i < 0 || a.Arm == base || a.Rate == nil || c.Arms[i].Rate == nil || a.AtLeast || c.Arms[i].AtLeast {
			continue
		}
		c.Ratios = append(c.Ratios, Ratio{a.Cell, a.Arm, base, estimateOf(ratio(a.posterior, c.Arms[i].posterior))})
	}
	return c
}

// read says what is known of an arm.
func (a *series) read() Arm {
	arm := Arm{Cell: a.Cell, Arm: a.Arm, ClosedS: a.Most, Tries: a.Tries, UsedS: a.UsedS}
	for _, t := range a.Tries {
		arm.LongestS = max(arm.LongestS, t.Window)
	}
	if arm.Why = a.nothing(); arm.Why != "" {
		return arm
	}
	highest := highestMet(a.Tries)
	_, _, arm.Short = a.lengths(max(highest, lowest*a.Most), true)
	p, enclosed := known(a.Tries)
	if !enclosed {
		arm.AtLeast, arm.Rate = true, &Estimate{highest, highest, highest}
		arm.Limit, arm.LimitOf, arm.Proof = limitAt(a.Tries, a.judged, highest, a.closed)
		return arm
	}
	arm.posterior, arm.Spread = p, p.spread
	if arm.Why = contradiction(a.Tries, p); arm.Why != "" {
		return arm
	}
	e := estimateOf(p.capacityOf())
	arm.Rate, arm.Wide = &e, e.High-e.Low > a.Spec.Within*e.Value
	arm.Limit, arm.LimitOf, arm.Proof = limitAt(a.Tries, a.judged, e.Value, a.closed)
	if generatorEnded(a.Tries, e.Value) { // both together carry that; the server may carry more
		arm.AtLeast, arm.Rate = true, &Estimate{e.Low, e.Low, e.Low}
	}
	return arm
}

// nothing says why there is no capacity; "" when there may be one.
func (a *series) nothing() string {
	switch {
	case a.closed == nil:
		return "it has not run yet"
	case !(a.Most > 0):
		return "flat out it left no rate: " + cmp.Or(a.closed.Trial.Reason, a.closed.Trial.Status)
	case a.Most < a.floor():
		return a.tooSlow()
	case len(a.Tries) == 0 && len(a.untold) > 0:
		return "no window tells: " + a.untold[len(a.untold)-1].Why
	case len(a.Tries) == 0:
		return "no rate was tried"
	}
	if slices.ContainsFunc(a.Tries, func(t Try) bool { return t.Met }) {
		return ""
	}
	lowest := slices.MinFunc(a.Tries, func(x, y Try) int { return cmp.Compare(x.Rate, y.Rate) })
	return fmt.Sprintf("no rate tried meets it: at %s/s, the lowest of %d, the reason was: %s", rateText(lowest.Rate), len(a.Tries), lowest.Why)
}

// highestMet is the highest rate at which a window met the objective and, counted from
// below, no more windows missed it than met it; 0 for none.
func highestMet(tries []Try) float64 {
	sorted := slices.Clone(tries)
	slices.SortStableFunc(sorted, func(x, y Try) int { return cmp.Compare(x.Rate, y.Rate) })
	best, met, missed := 0.0, 0, 0
	for _, t := range sorted {
		if t.Met {
			met++
		} else {
			missed++
		}
		if t.Met && met > missed {
			best = t.Rate
		}
	}
	return best
}

// generatorEnded tells whether most windows that missed near the capacity did so while
// the load generator was at its own limit.
func generatorEnded(tries []Try, capacity float64) bool {
	const nearby = 1.3
	client, all := 0, 0
	for _, t := range tries {
		if t.Met || t.Rate > nearby*capacity {
			continue
		}
		if all++; t.client {
			client++
		}
	}
	return 2*client > all
}
