package compare

import (
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// GateResult is what a gate makes of a comparison or of a whole run.
type GateResult int

// The results.
const (
	NoWorse  GateResult = iota // worse by more than the bound is ruled out
	IsWorse                    // the verdict is worse, or a requirement is broken
	Unproven                   // neither, or it could not be compared
)

// Gated is one comparison as a gate sees it.
type Gated struct {
	Comparison
	Result GateResult
	Reason string
}

// Gate asks of every primary comparison whether its arm is no worse than the
// base: proved by its verdict, or by an interval whose bad side stays within
// the bound (non-inferiority: ICH E9, section 3.3.2). The whole is as bad as
// its worst part, and a regression is worse than an open question. The gate is
// unproven when nothing is compared, a trial failed or is missing, a record is
// outside the plan, or exchanges failed where no requirement allows it. The study's
// requirements must be met as well: a broken one is as bad as a regression.
func Gate(f Run) (GateResult, []Gated) {
	var all []Gated
	whole, unproven := NoWorse, len(Caveats(f)) > 0
	for _, r := range f.Requirements {
		if r.State == Broken {
			whole = IsWorse
		}
		unproven = unproven || r.State != Met
	}
	for _, c := range f.Comparisons {
		if !c.Primary {
			continue
		}
		g := Gated{Comparison: c}
		g.Result, g.Reason = pass(c)
		all = append(all, g)
		if g.Result == IsWorse {
			whole = IsWorse
		}
		unproven = unproven || g.Result == Unproven
	}
	if whole == NoWorse && (unproven || len(all)+len(f.Requirements) == 0) {
		whole = Unproven
	}
	return whole, all
}

// Caveats says what of the run itself keeps a gate from opening, whatever its
// comparisons say.
func Caveats(f Run) []string {
	var all []string
	if n := f.Tally.Failed; n > 0 {
		all = append(all, fmt.Sprintf("%d of %d trials failed", n, f.Tally.Planned))
	}
	if n := f.Tally.Missing; n > 0 {
		all = append(all, fmt.Sprintf("%d of %d trials left no record", n, f.Tally.Planned))
	}
	if n := f.Tally.Unplanned; n > 0 {
		all = append(all, fmt.Sprintf("%d records are of trials outside the plan", n))
	}
	for _, arm := range f.failing() {
		all = append(all, "exchanges of "+arm+" failed, and no requirement that is met allows that")
	}
	return all
}

func pass(c Comparison) (GateResult, string) {
	switch c.Verdict {
	case Better, Equivalent:
		return NoWorse, string(c.Verdict)
	case Worse:
		return IsWorse, string(c.Verdict)
	case Invalid, Unsupported:
		return Unproven, c.Reason
	}
	m, err := metric.Named(c.Metric)
	switch {
	case err != nil, stat.MinP(c.Blocks) > c.Level:
		return Unproven, c.Reason
	case m.Better == metric.Lower && c.High < 1+c.Bound, m.Better == metric.Higher && c.Low > 1/(1+c.Bound):
		return NoWorse, fmt.Sprintf("the interval rules out that it is more than %s worse", quantity.ChosenShare(c.Bound))
	}
	return Unproven, c.Reason
}

// Run is a run as judged: its figures by cell and arm, and how the arms compare.
// A gate, a calibration and a comparison of runs rest on it alone.
type Run struct {
	Header       record.Header `json:"header"`
	Cells        []cells.Cell  `json:"cells"`
	Comparisons  []Comparison  `json:"comparisons"`
	Requirements []Requirement `json:"requirements,omitempty"` // as the study has them, then by cell
	Noise        []Noise       `json:"noise"`                  // the A/A comparisons
	Tally        cells.Tally   `json:"tally"`
}

// Plan is what readers need of the run's study.
func (f Run) Plan() cells.Plan { return cells.PlanOf(f.Header) }

// failing names the arms that had exchanges fail beyond what a requirement allows.
// Their other figures are of the trials in which all went well.
func (f Run) failing() []string {
	allowed := map[cells.Key]bool{}
	for _, r := range f.Requirements {
		if r.Metric == metric.ErrorShare && r.State == Met {
			allowed[cells.KeyOf(r.Cell, r.Arm)] = true
		}
	}
	var names []string
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			failed := slices.ContainsFunc(arm.Trials, func(t trial.Trial) bool { return t.Errors > 0 && t.Status != trial.Valid })
			if failed && !allowed[cells.KeyOf(cell.Name, arm.Name)] {
				names = append(names, cells.ArmOf(cell, arm))
			}
		}
	}
	return names
}
