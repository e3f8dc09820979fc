// Package search looks along one axis of levels for the one that does best while an
// objective holds: which rate each arm carries at most, or which of the arms is best for a
// metric. It is pure: Next decides from the records so far what the next block runs, and
// Read says what a run found.
//
// There are two strategies. A rate is found by windows that meet the objective or do not
// (rate.go, by the posterior of threshold.go). Arms race in paired blocks and are left out
// as soon as they are surely worse (race.go, by the tests of field.go). Rates that are
// shares of what an arm does flat out are decided beforehand (shares.go).
package search

import (
	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Search is what a search found.
type Search struct {
	Metric    string         `json:"metric"` // that is to be best: the rate that is carried, or what a race is for
	Objective []record.Bound `json:"objective,omitempty"`
	Baseline  string         `json:"baseline,omitempty"`
	Arms      []Arm          `json:"arms"`             // by cell and arm, in the study's order
	Choice    *Choice        `json:"choice,omitempty"` // among the arms; nil of a search for rates
	Sentences []string       `json:"sentences"`

	names cells.Names
}

// Arm is what became of an arm in a cell.
type Arm struct {
	Cell   string        `json:"cell,omitempty"`
	Arm    string        `json:"arm"`
	Fate   Fate          `json:"fate"`
	Why    string        `json:"why,omitempty"`    // Fate: a sentence's end
	Cure   string        `json:"cure,omitempty"`   // what would decide it
	Figure *cells.Figure `json:"figure,omitempty"` // of Metric; nil for none
	Ratio  *Estimate     `json:"ratio,omitempty"`  // to the baseline's figure in the same cell
	Trials int           `json:"trials"`           // windows that tell something of the objective; blocks of a race

	// Of a rate alone.
	Wide    bool          `json:"wide,omitempty"`         // the interval is wider than the study asked for
	Short   float64       `json:"short_s,omitempty"`      // the longest window, where the objective needs longer ones
	ClosedS float64       `json:"closed_per_s,omitempty"` // flat out, in a closed loop
	Limit   trial.Limit   `json:"limit,omitempty"`        // at the rate
	LimitOf contract.Role `json:"limit_of,omitempty"`
	Proof   string        `json:"proof,omitempty"`
	Tries   []Try         `json:"tries,omitempty"` // as they ran

	posterior posterior
}

// OfRates tells whether the search is one for rates; false of none.
func (f *Search) OfRates() bool { return f != nil && f.Choice == nil }

// Fate is what became of an arm in a search.
type Fate string

// The fates: of a rate, and of an arm in a race.
const (
	Carries   Fate = "carries"
	AtLeast   Fate = "at least" // the load generator's limit ended the search: the server may carry more
	Nothing   Fate = "none"     // every window missed the objective, down to the lowest rate that can be tried
	Undecided Fate = "undecided"

	Stayed Fate = "stayed"
	Slower Fate = "slower"          // than another that keeps the bounds
	Broken Fate = "breaks a bound"  // surely
	Fell   Fate = "no valid trials" // its trials failed twice, or two are not valid and none is
	Behind Fate = "behind"          // in the worse half when the time did not suffice for all
)

// Estimate is a figure with its interval.
type Estimate struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func estimateOf(e stat.Estimate) *Estimate {
	return &Estimate{Value: e.Point, Low: e.Low, High: e.High}
}

// Choice is which of the arms to use.
type Choice struct {
	State       State                `json:"state"`
	Why         string               `json:"why,omitempty"`    // of State, in half a sentence
	Margin      float64              `json:"margin"`           // a gain below it is none
	Winner      string               `json:"winner,omitempty"` // of the race; "" when nobody can win
	Ended       string               `json:"ended,omitempty"`  // why the race ended
	Blocks      int                  `json:"blocks"`           // of the race
	Trials      int                  `json:"trials"`           // that were run, the confirmation's included
	Gain        *compare.Comparison  `json:"gain,omitempty"`   // winner ÷ baseline in fresh blocks
	Costs       []compare.Comparison `json:"costs,omitempty"`  // the same of CPU and memory, explored
	Bounds      []Bound              `json:"bounds,omitempty"` // of the arm that is recommended, else of the winner
	Recommended string               `json:"recommended"`      // an arm; "" when none is
	Settings    []string             `json:"settings,omitempty"`
}

// State says how a race ended.
type State string

// The states.
const (
	Running   State = "running"   // it or its confirmation has not ended
	Confirmed State = "confirmed" // the winner is better than the baseline in fresh blocks
	Needed    State = "needed"    // the winner keeps the bounds and the baseline does not
	Kept      State = "kept"      // no arm is shown better than the baseline
	Unkept    State = "unkept"    // nothing is recommended: no arm keeps the bounds, or the baseline or the metric has no valid trials
)

// Bound is a bound beside the figure that was measured.
type Bound struct {
	record.Bound
	Figure cells.Figure  `json:"figure"`
	State  compare.State `json:"state"`
}

// Next decides what a block runs, from the records of the blocks before it. The words say
// what was decided, "" where there is nothing to say.
func Next(s *cells.Dataset, block int) (record.Allocation, string) {
	switch {
	case len(s.FlatOut) > 0:
		return shares(s, block)
	case block <= 1:
		return record.Allocation{Block: block}, ""
	case s.Kind.Race != nil:
		return nextRace(s, block)
	case s.Kind.Rates != nil:
		return nextRates(s, block)
	}
	return record.Allocation{Block: block}, ""
}

// Read says what a run found; nil of a study that searches for nothing.
func Read(s *cells.Dataset) *Search {
	f := &Search{Baseline: s.Compare.Baseline, names: s.Names}
	race, rates := s.Kind.Race, s.Kind.Rates
	switch {
	case rates != nil && len(rates.Objective) > 0:
		f.Metric, f.Objective = metric.ExchangesPerS, rates.Objective
		f.readRates(s)
		for _, a := range f.Arms {
			f.Sentences = append(f.Sentences, f.rateSentence(a))
		}
	case race != nil && isMetric(race.Best):
		f.Metric, f.Objective = race.Best, race.Within
		f.readRace(s)
		f.Sentences = f.choiceSentences()
	default:
		return nil
	}
	return f
}

func isMetric(name string) bool {
	_, err := metric.Named(name)
	return err == nil
}

// Headline answers what was searched for.
func (f *Search) Headline() part.Headline {
	if f == nil {
		return part.Headline{}
	}
	return part.Headline{Place: part.Whole, Sentences: f.Sentences, Tables: []part.Table{f.table(f.Choice != nil)}}
}
