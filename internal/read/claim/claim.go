// Package claim judges the claims that a study, or a publication, makes of its arms: it
// sets beside every ratio in a claim what the run measured of that ratio (specification
// §6.13). It is pure.
package claim

import (
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/fit"
	"netdyno/internal/record"
)

// State is what the figures say of a claim.
type State string

// The states of a claim, of each of its parts and of their evidence.
const (
	Holds       State = "holds"
	DoesNotHold State = "does not hold"
	Undecided   State = "cannot tell"
)

// Outcome is what became of a claim, in the words of a report.
type Outcome string

// The outcomes. What a publication says and does not hold here no longer holds.
const (
	StillHolds    Outcome = "holds"
	NoLongerHolds Outcome = "no longer holds"
	NeverHeld     Outcome = "does not hold"
	StillOpen     Outcome = "undecided"
	NotTestable   Outcome = "cannot be tested here"
)

// claimMeans says what each outcome stands for (specification §6.13).
var claimMeans = map[Outcome]string{
	StillHolds:    "every condition of the claim has its whole interval where the claim says",
	NoLongerHolds: "a publication says it, and one of its conditions has its whole interval elsewhere here",
	NeverHeld:     "the study itself says it, and one of its conditions has its whole interval elsewhere",
	StillOpen:     "an interval contains a bound of the claim, or too few blocks have figures; the report says how many blocks would decide",
	NotTestable:   "an arm of the claim cannot run here, or what it is about is not met: more blocks would not help",
}

// Outcomes returns every outcome of a claim.
func Outcomes() []Outcome {
	return []Outcome{StillHolds, NoLongerHolds, NeverHeld, StillOpen, NotTestable}
}

// Means returns what an outcome stands for.
func (o Outcome) Means() string { return claimMeans[o] }

// Claims are those of a study.
type Claims []Claim

// Claim is a claim that the study declares, with what it rests on.
type Claim struct {
	Spec       record.Claim  `json:"spec"`
	State      State         `json:"state"`
	Outcome    Outcome       `json:"outcome,omitempty"`    // the state, and whether the claim could be tested at all
	Reason     string        `json:"reason,omitempty"`     // why it cannot be tested here
	Unmet      []cells.Unmet `json:"unmet,omitempty"`      // of Spec.Under, where no cell meets it
	Conditions []string      `json:"conditions,omitempty"` // under which it was tested: "loopback, 2 CPUs", "limit: the server's CPUs"
	Level      float64       `json:"level"`                // of the look that the run is judged at
	Evidence   []Evidence    `json:"evidence"`             // by part, then by cell and arm
	Elsewhere  string        `json:"elsewhere,omitempty"`  // where it can be tested, and the command, where it cannot be here
	Sentence   string        `json:"sentence"`
}

// Evidence is one comparison that a claim demands. Ratio is arm ÷ base; with From
// it is that quotient ÷ the one at From; of steadier it is how much the ratios of
// Than vary ÷ how much those of the arms do.
type Evidence struct {
	Part       int     `json:"part"` // of Spec.Parts, from 0
	What       string  `json:"what"` // "w512k-r0 ÷ w0-r0 at inflight=4"
	Ratio      float64 `json:"ratio"`
	Low        float64 `json:"low"` // the interval that decides; equal to Ratio when Blocks < 2
	High       float64 `json:"high"`
	Interval   float64 `json:"interval_level"` // 1 − its confidence
	Blocks     int     `json:"blocks"`
	Of         int     `json:"of,omitempty"`   // blocks in which all of its arms ran
	Form       Form    `json:"form,omitempty"` // what Ratio, Low and High are where they are no ratios
	State      State   `json:"state"`
	Untestable bool    `json:"untestable,omitempty"` // more blocks would not help: an arm of it cannot run here, or others used the machine
	NeedsMore  int     `json:"needs_more,omitempty"` // blocks in all that would decide what is undecided; 0 when no number would
	Reason     string  `json:"reason,omitempty"`

	effects []float64 // logarithms of the blocks' ratios
	judged  float64   // level of the interval with which a verdict on the same ratio is given; 0 where there is none
	refusal string
	said    string   // What, by labels
	least   int      // effects from which it is judged; 0 for as many as a sign flip needs
	arm     string   // of a ratio to the part's base in one cell
	cells   []string // whose trials it rests on
}

// Read judges what the study claims (specification §6.13), beside the comparisons of
// the same run: a ratio that has a verdict has one interval for both.
func Read(s *cells.Dataset, comparisons []compare.Comparison, fits fit.Fits) Claims {
	judged := compare.JudgedAt(comparisons)
	var all Claims
	for _, spec := range s.Header.Study.Claims {
		c := claimOf(s, spec, judged, fits)
		c.Sentence = c.sentence()
		all = append(all, c)
	}
	return all
}

func claimOf(s *cells.Dataset, spec record.Claim, judged compare.Levels, fits fit.Fits) Claim {
	c := Claim{Spec: spec, Level: s.Level(), State: Holds, Reason: spec.Unmeasured}
	unfound := spec.Unmeasured != "" // some part has nothing to test it
	for i, p := range spec.Parts {
		evidence, unmet := evidenceOf(s, spec.Under, i, p)
		if aside(p) {
			evidence, unmet = subjectOf(s, spec.Under, i, p, fits)
		}
		for k := range evidence {
			e := &evidence[k]
			if e.arm != "" {
				e.judged = judged.Of(e.cells[0], p.Metric, e.arm, p.Base)
			}
		}
		if len(evidence) == 0 {
			unfound = true
			c.Unmet = cells.Nearer(c.Unmet, unmet)
		}
		c.Evidence = append(c.Evidence, evidence...)
	}
	if !unfound {
		c.Unmet = nil
	}
	untestable := unfound
	for i := range c.Evidence {
		e := &c.Evidence[i]
		e.judge(spec.Parts[e.Part], c.Level, c.Level/float64(len(c.Evidence)))
		c.State = c.State.and(e.State)
		if e.Untestable && c.Reason == "" {
			c.Reason = e.Reason
		}
		untestable = untestable || e.Untestable
	}
	if unfound {
		c.State = c.State.and(Undecided)
	}
	c.Outcome = outcomeOf(c.State, spec.Source != "", untestable)
	if c.Outcome != NotTestable {
		c.Reason, c.Unmet = "", nil
	} else {
		c.Elsewhere = c.elsewhere(s.Header.Study.Name)
	}
	c.Conditions = conditionsOf(s, spec, c.Evidence)
	return c
}

// outcomeOf puts a state into a report's words. A claim that fails in one part
// does not hold, whatever cannot be tested of the others.
func outcomeOf(state State, published, untestable bool) Outcome {
	switch {
	case state == DoesNotHold && published:
		return NoLongerHolds
	case state == DoesNotHold:
		return NeverHeld
	case untestable:
		return NotTestable
	case state == Undecided:
		return StillOpen
	}
	return StillHolds
}

// and is the state of two conditions together.
func (a State) and(b State) State {
	switch {
	case a == DoesNotHold || b == DoesNotHold:
		return DoesNotHold
	case a == Undecided || b == Undecided:
		return Undecided
	}
	return Holds
}

// Weakest returns what the state of a claim rests on: what does not hold, else
// what cannot be told, else the narrowest of what holds. Nil without evidence.
func (c *Claim) Weakest() *Evidence {
	var weakest *Evidence
	for i := range c.Evidence {
		e := &c.Evidence[i]
		if e.State == c.State && (weakest == nil || e.State == Holds && e.slack(c.Spec.Parts[e.Part]) < weakest.slack(c.Spec.Parts[weakest.Part])) {
			weakest = e
		}
	}
	return weakest
}
