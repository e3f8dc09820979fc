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
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Capacity is what a search found.
type Capacity struct {
	Spec     record.Capacity `json:"spec"`
	Baseline string          `json:"baseline,omitempty"` // the arm by whose capacity the others are divided
	Arms     []Arm           `json:"arms"`               // by cell and arm, in the study's order
	Ratios   []Ratio         `json:"ratios,omitempty"`   // of arms to the baseline in their cell, where both have a capacity
}

// Arm is one arm in one cell. It has a capacity; or None of the rates meets the
// objective, which takes windows that all missed it; or it is undecided. Why says why.
type Arm struct {
	Cell     string        `json:"cell,omitempty"`
	Arm      string        `json:"arm"`
	Rate     *Estimate     `json:"rate,omitempty"`     // exchanges per second; nil for none
	AtLeast  bool          `json:"at_least,omitempty"` // the generator's own limit ended the search: the server carries Rate.Point or more
	None     bool          `json:"none,omitempty"`     // every window missed the objective, down to the lowest rate that can be tried
	Why      string        `json:"why,omitempty"`      // there is no capacity, or it is undecided: a sentence's end
	Cure     string        `json:"cure,omitempty"`     // what would decide it
	Wide     bool          `json:"wide,omitempty"`     // the interval is wider than the study asked for
	Short    bool          `json:"short,omitempty"`    // windows were shorter than the objective needs
	Spread   float64       `json:"spread,omitempty"`   // by which share of the rate single windows scatter
	ClosedS  float64       `json:"closed_per_s,omitempty"`
	Limit    trial.Limit   `json:"limit,omitempty"` // at the capacity
	LimitOf  contract.Role `json:"limit_of,omitempty"`
	Proof    string        `json:"proof,omitempty"`
	Tries    []Try         `json:"tries,omitempty"`  // as they ran
	Untold   []Try         `json:"untold,omitempty"` // windows that say nothing of the objective, which failed or are invalid
	UsedS    float64       `json:"used_s"`           // that its trials took
	LongestS float64       `json:"longest_s"`        // of its windows

	posterior posterior
}

// Answered tells whether a search found how much an arm carries, or that it carries
// nothing.
func (a Arm) Answered() bool { return a.Rate != nil || a.None }

// Estimate is a figure with its interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Ratio is the capacity of an arm divided by the baseline's.
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
	c := &Capacity{Spec: *spec, Baseline: s.Header.Study.Compare.Baseline}
	for _, a := range seriesOf(s) {
		c.Arms = append(c.Arms, a.readArm())
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

// readArm says what is known of an arm.
func (a *series) readArm() Arm {
	arm := Arm{Cell: a.Cell, Arm: a.Arm, ClosedS: a.Most, Tries: a.Tries, Untold: a.untold, UsedS: a.UsedS}
	for _, t := range a.Tries {
		arm.LongestS = max(arm.LongestS, t.Window)
	}
	if arm.None, arm.Why = a.nothing(); arm.Why != "" {
		arm.Cure = a.cure()
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
	if arm.Why = undecided(a.Tries, p); arm.Why != "" {
		arm.Cure = a.longer()
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

// nothing says why there is no capacity, or why that is not decided; "" when there may
// be one. None: every window missed the objective, as low as rates go.
func (a *series) nothing() (none bool, why string) {
	switch {
	case a.closed == nil:
		return false, "it has not run yet"
	case !(a.Most > 0):
		return false, "flat out it left no rate: " + cmp.Or(a.closed.Trial.Reason, a.closed.Trial.Status)
	case a.Most < a.floor():
		return false, a.tooSlow()
	case len(a.Tries) == 0 && len(a.untold) > 0:
		return false, a.untoldWords()
	case len(a.Tries) == 0:
		return false, "no rate was tried"
	}
	if slices.ContainsFunc(a.Tries, func(t Try) bool { return t.Met }) {
		return false, ""
	}
	lowest := slices.MinFunc(a.Tries, func(x, y Try) int { return cmp.Compare(x.Rate, y.Rate) })
	missed := fmt.Sprintf("each of %s that tell missed it; at %s/s, the lowest, the reason was: %s", quantity.Plural(len(a.Tries), "window"), rateText(lowest.Rate), lowest.Why)
	byClient := 0
	for _, t := range a.Tries {
		if t.client {
			byClient++
		}
	}
	switch {
	case 2*byClient > len(a.Tries):
		return false, fmt.Sprintf("%s, and in %d of them the load generator was at its own limit", missed, byClient)
	case !a.exhausted():
		if len(a.untold) > 0 {
			missed += "; " + a.untoldWords()
		}
		return false, missed
	}
	return true, missed
}

// untoldWords say how many windows say nothing, and why the last one does not.
func (a *series) untoldWords() string {
	return fmt.Sprintf("%s told nothing, the last because %s", quantity.Plural(len(a.untold), "window"), a.untold[len(a.untold)-1].Why)
}

// cure is what would decide about an arm without a capacity.
func (a *series) cure() string {
	switch {
	case a.closed != nil && !(a.Most > 0):
		return a.account(a.closed.Plan.ID)
	case len(a.untold) > 0 && !a.exhausted():
		return a.account(a.untold[len(a.untold)-1].ID)
	}
	return a.longer()
}

// account is the command that shows why a window tells nothing.
func (a *series) account(id string) string {
	return fmt.Sprintf("netdyno report %s --trial %s shows it", cmp.Or(a.directory, "DIR"), id)
}

// longer is a search with windows that may be so many times as long.
func (a *series) longer() string {
	const times = 5
	return fmt.Sprintf("the same search with --time %s, whose windows may be %d times as long, would tell more", quantity.DurationText(time.Duration(times*a.Spec.TimeS*float64(time.Second))), times)
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
