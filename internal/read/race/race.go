// Package race reads a race: arms that are run in paired blocks and left out as soon as
// they are known to be worse than another, until one is left, or none that could be
// better by more than the margin, or trials or time are spent. The winner is then compared
// with the baseline in blocks whose figures chose nothing.
//
// field.go gathers the figures of the race and finds their noise, decide.go judges after a
// block, next.go decides for a run which arms the next block has and how long the race may
// go on, read.go reads a finished race, replay.go runs one over known figures. The package
// is pure: the same records make the same decisions.
package race

import (
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// ErrorRate is the probability with which a whole race may leave out its best arm, or
// end with a winner that another exceeds by more than the margin.
const ErrorRate = 0.05

// Race is what was found out by a race. A reader takes State first: it says which of
// the other fields hold anything.
type Race struct {
	Spec        record.Race          `json:"spec"`
	State       State                `json:"state"`
	Baseline    string               `json:"baseline"`
	Margin      float64              `json:"margin"`             // a gain below it is none
	Unit        string               `json:"unit"`               // of Spec.Best
	Candidates  []Candidate          `json:"candidates"`         // in the study's order, the baseline among them
	Winner      string               `json:"winner,omitempty"`   // of the race; "" when nobody can win
	Sure        bool                 `json:"sure,omitempty"`     // nobody else can be better by more than the margin, at ErrorRate
	Ended       string               `json:"ended,omitempty"`    // why the race ended, in half a sentence
	Blocks      int                  `json:"blocks"`             // of the race
	Trials      int                  `json:"trials"`             // that were run, the confirmation's included
	Exhaustive  int                  `json:"exhaustive"`         // trials of every arm in every block that was planned
	Gain        *compare.Comparison  `json:"gain,omitempty"`     // winner ÷ baseline in the confirmation
	Costs       []compare.Comparison `json:"costs,omitempty"`    // the same of CPU and memory, explored
	Bounds      []Bound              `json:"bounds,omitempty"`   // of the winner, or of the baseline where that stays, in fresh blocks
	Recommended string               `json:"recommended"`        // an arm; "" when none is
	Settings    []Setting            `json:"settings,omitempty"` // of the recommended arm, where they differ from the baseline's
	Options     []Option             `json:"options,omitempty"`  // what each setting did by itself
	Sentences   []string             `json:"sentences,omitempty"`
}

// State says how a race stands.
type State string

// The states.
const (
	Running    State = "running"    // it or its confirmation has not ended
	Confirmed  State = "confirmed"  // the winner is better than the baseline in fresh blocks
	Needed     State = "needed"     // the winner keeps the bounds and the baseline does not
	Unproven   State = "unproven"   // fresh blocks do not show the winner better
	Unbeaten   State = "unbeaten"   // no arm is better than the baseline by more than the margin
	Unkept     State = "unkept"     // no arm keeps the bounds
	Unmeasured State = "unmeasured" // no valid trial has the metric
	Failed     State = "failed"     // the baseline does not run
)

// Candidate is an arm in the race.
type Candidate struct {
	Arm       string        `json:"arm"`
	Fate      Fate          `json:"fate"`
	By        string        `json:"by,omitempty"`         // the arm that it is slower than
	Reason    string        `json:"reason,omitempty"`     // of one that failed
	Blocks    int           `json:"blocks"`               // in which it was planned
	Figure    cells.Figure  `json:"figure"`               // of the metric, in the race: over the blocks of Ratio where there is one
	Ratio     stat.Estimate `json:"ratio"`                // to the baseline, within the race's blocks; zero without any
	BaseValue float64       `json:"base_value,omitempty"` // the baseline's figure over the blocks of Ratio: Ratio is the quotient
}

// Fate is what became of a candidate.
type Fate string

// The fates.
const (
	Stayed Fate = "stayed"          // to the end of the race
	Slower Fate = "slower"          // than another that keeps the bounds
	Broken Fate = "breaks a bound"  // it breaks a bound
	Fell   Fate = "no valid trials" // its trials failed twice
	Behind Fate = "behind"          // in the worse half when trials or time did not suffice for all
)

// Fates returns what can become of a candidate.
func Fates() []Fate { return []Fate{Stayed, Slower, Broken, Fell, Behind} }

// Means says what a fate is.
func (f Fate) Means() string {
	return map[Fate]string{
		Stayed: "the arm of a race ran to its end",
		Slower: "the arm of a race was left out, as another that keeps the bounds is surely ahead of it",
		Broken: "the arm of a race was left out, as it surely breaks a bound",
		Fell:   "the arm of a race was left out after two trials that failed, or two that are not valid and none that is",
		Behind: "the arm of a race was left out by its place so far, as the trials or the time did not suffice for all; it may be as good as the others",
	}[f]
}

// Bound is a bound beside the figure that was measured.
type Bound struct {
	record.Bound
	Figure cells.Figure  `json:"figure"`
	State  compare.State `json:"state"`
}
