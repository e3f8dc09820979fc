// Package expect judges what a study expects of its figures: the statements of
// publications and of the study itself (specification §6.13). It is pure.
package expect

import (
	"cmp"
	"slices"

	"netdyno/internal/condition"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// State is what became of a condition.
type State string

// The states.
const (
	Holds       State = "holds"
	DoesNotHold State = "does not hold"
	Undecided   State = "undecided"
	NotTestable State = "not testable here"
)

// means says what each state stands for (specification §6.13).
var means = map[State]string{
	Holds:       "each of its conditions has its whole interval where it says",
	DoesNotHold: "one of its conditions has its whole interval elsewhere",
	Undecided:   "an interval contains a bound of it, or too few blocks have figures; the report says how many blocks would decide",
	NotTestable: "an arm of it cannot run here, or what it is about is not met: more blocks would not help",
}

// States returns every state.
func States() []State { return []State{Holds, DoesNotHold, Undecided, NotTestable} }

// Means returns what a state stands for.
func (s State) Means() string { return means[s] }

// Of several states the first in these orders counts: all must hold, or any of the arms
// of a best(…).
var (
	allOf = []State{DoesNotHold, NotTestable, Undecided, Holds}
	anyOf = []State{Holds, NotTestable, Undecided, DoesNotHold}
)

// Results are what became of what a study expects, in its order.
type Results []Result

// Result is one statement with what it rests on.
type Result struct {
	Spec      record.Expectation `json:"spec"`
	Must      bool               `json:"must,omitempty"` // a bound: a gate opens only where it holds
	State     State              `json:"state"`
	Reason    string             `json:"reason,omitempty"`    // why it is not testable here
	Elsewhere string             `json:"elsewhere,omitempty"` // where it can be tested, and the command
	Under     []string           `json:"under,omitempty"`     // where it was tested: "loopback, 2 CPUs", "limit: the server's CPUs"
	Level     float64            `json:"level"`               // of the look that the run is judged at
	Evidence  []Evidence         `json:"evidence"`            // by condition, then by cell and arm
	Figure    string             `json:"figure,omitempty"`    // that decides, in words; "" where nothing was measured
	Ground    string             `json:"ground"`              // on what the state rests: Figure and Under, or Reason and Elsewhere

	parts []condition.Condition
}

// Form is what the number of an evidence is.
type Form string

// The forms of an evidence.
const (
	Ratio       Form = ""            // arm ÷ base, or a quotient of such
	Figure      Form = "figure"      // of an arm, in the metric's unit
	Share       Form = "share"       // of a CPU profile, 0 to 1
	Points      Form = "difference"  // of two shares of profiles
	Coefficient Form = "coefficient" // of a growth
)

// Evidence is one number that a condition needs.
type Evidence struct {
	Part      int     `json:"part"`           // of Spec.That, from 0
	What      string  `json:"what"`           // by labels: "no buffers ÷ large buffers at 4 calls"
	Form      Form    `json:"form,omitempty"` // of Value, Low and High
	Value     float64 `json:"value"`
	Low       float64 `json:"low"` // the interval that decides; equal to Value when Blocks < 2
	High      float64 `json:"high"`
	Interval  float64 `json:"interval_level"` // 1 − its confidence
	Measured  string  `json:"measured"`       // Value with its interval, in words
	Blocks    int     `json:"blocks"`         // or probes, of a profile
	Of        int     `json:"of,omitempty"`   // blocks in which all of its arms ran
	State     State   `json:"state"`
	NeedsMore int     `json:"needs_more,omitempty"` // blocks in all that would decide what is undecided; 0 when no number would
	Reason    string  `json:"reason,omitempty"`

	effects    []float64 // by block: logarithms, of a plain form the numbers themselves
	judged     float64   // level of the interval with which a verdict on the same ratio is given; 0 where there is none
	least      int       // effects from which it is judged; 0 for as many as a sign flip needs
	refusal    string    // why the figures may not be compared
	untestable bool      // more blocks would not help
	size       float64   // of a coefficient, as the condition has it
	at         []cells.Key

	effect stat.Uncertain // the mean of effects as a comparison has it; no Degrees for what they say themselves
}

// Read judges the statements of a study beside the comparisons of the same run: a ratio
// that has a verdict has one interval for both. The bounds that must hold come first.
func Read(s *cells.Dataset, comparisons []compare.Comparison, bounds []compare.Requirement) Results {
	judged := compare.JudgedAt(comparisons)
	var all Results
	for _, r := range bounds {
		all = append(all, Must(r))
	}
	for _, spec := range s.Expect {
		all = append(all, resultOf(s, spec, judged))
	}
	return all
}

func resultOf(s *cells.Dataset, spec record.Expectation, judged compare.Levels) Result {
	r := Result{Spec: spec, Level: s.Level(), Reason: spec.Unmeasured}
	var unmet []cells.Unmet
	unfound := spec.Unmeasured != "" // some condition has nothing to test it
	var found [][]Evidence
	for i, text := range spec.That {
		c, err := condition.Parse(text, nil)
		if err != nil { // a later version wrote it
			unfound, r.Reason = true, "this version cannot read it: "+err.Error()
			continue
		}
		g := gathering{s: s, under: spec.Under, judged: judged, Condition: c}
		own := rules[c.Form](&g)
		for k := range own {
			own[k].Part = i
		}
		if len(own) == 0 {
			unfound, unmet = true, cells.Nearer(unmet, g.unmet)
		}
		r.parts, found = append(r.parts, c), append(found, own)
	}
	r.Evidence = slices.Concat(found...)
	var states []State
	for i, own := range found {
		states = append(states, r.judge(r.parts[i], own))
	}
	r.Evidence = slices.Concat(found...)
	if unfound {
		states = append(states, NotTestable)
	}
	r.State = first(allOf, states)
	r.Under = r.tested(s)
	r.Figure = r.figure()
	if r.State == NotTestable {
		r.why(s.Name, unmet)
	} else {
		r.Reason = ""
	}
	r.Ground = r.ground()
	for i, e := range r.Evidence {
		r.Evidence[i].Measured = r.measured(e)
	}
	return r
}

// first returns the state that counts of several: Holds of none.
func first(order, states []State) State {
	for _, state := range order {
		if slices.Contains(states, state) {
			return state
		}
	}
	return Holds
}

// why says why a statement is not testable here, and where it can be.
func (r *Result) why(study string, unmet []cells.Unmet) {
	for _, e := range r.Evidence {
		if e.untestable {
			r.Reason = cmp.Or(r.Reason, e.Reason)
		}
	}
	under := map[string]string{}
	for _, u := range unmet {
		under[u.Condition] = u.Published
	}
	if r.Reason == "" && len(unmet) > 0 {
		r.Reason = "it is about " + cells.Conditions(unmet)
	}
	r.Reason = cmp.Or(r.Reason, "no cell of this run has its arms at these levels")
	switch {
	case r.Spec.Unmeasured != "":
	case len(under) > 0:
		r.Elsewhere = record.WhereTested(study, under)
	default:
		r.Elsewhere = record.WhereTested(study, r.Spec.Under)
	}
}
