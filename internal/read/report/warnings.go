package report

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// Warning is something to act on.
type Warning struct {
	About  string `json:"about"`
	Severe bool   `json:"severe,omitempty"` // bears on whether to believe the answers
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
}

// caveats say what weakens the answers. They come before the figures, not in a
// footnote.
func (l *layout) caveats() []string {
	caveats := slices.Concat(l.lostCaveat(), l.unplannedCaveat(), l.partialCaveat(), l.verdictCaveats())
	const most = 6 // more would bury the answers; the table of comparisons has them all
	if more := len(caveats) - most; more > 0 {
		caveats = append(caveats[:most], fmt.Sprintf("And %d more, listed under Comparisons.", more))
	}
	return caveats
}

// lostCaveat counts the trials without a figure.
func (l *layout) lostCaveat() []string {
	t := l.Tally
	missing := t.Missing
	if l.Header.Study.Settle > 0 { // interrupting it is the usual way to end it
		missing = 0
	}
	lost := t.Failed + t.Invalid + missing
	if lost == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %s gave no valid figure: %d failed, %d invalid, %d missing.",
		lost, quantity.Plural(t.Planned, "planned trial"), t.Failed, t.Invalid, missing)}
}

func (l *layout) unplannedCaveat() []string {
	if l.Tally.Unplanned == 0 {
		return nil
	}
	return []string{quantity.Plural(l.Tally.Unplanned, "record") + " in the file came from no trial of the plan; they are left out."}
}

// partialCaveat counts the trials that have no rates.
func (l *layout) partialCaveat() []string {
	t := l.Tally
	if t.Partial == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %s stood still or began with a backlog: their response times are kept, their rates and costs are not.",
		t.Partial, quantity.Plural(t.Planned, "planned trial"))}
}

// verdictCaveats name the primary comparisons that no other sentence says are
// invalid.
func (l *layout) verdictCaveats() []string {
	var caveats []string
	for _, c := range l.Comparisons {
		if c.Primary && c.Verdict == compare.Invalid && c.Sentence == "" {
			caveats = append(caveats, part.Sentence(fmt.Sprintf("no verdict on %s of %s%s: %s", part.Label(c.Metric), c.Arm, cells.InCell(c.Cell), cmp.Or(c.Reason, "invalid"))))
		}
	}
	return caveats
}

// severe are the warnings about how the trials went. The others say what the
// study is about and how far it reaches.
var severe = []string{
	"limit", "noise", trial.Stalled, trial.Backlog, trial.Unsteady, trial.Overloaded, trial.LateCounters, trial.GeneratorLate, trial.BusyMachine,
}

// warnings puts the severe ones first.
func (l *layout) warnings() []Warning {
	warnings := make([]Warning, 0, len(l.Warnings))
	for _, w := range l.Warnings {
		warnings = append(warnings, Warning{About: w.About, Severe: slices.Contains(severe, w.About), Text: w.Text, Advice: w.Advice})
	}
	slices.SortStableFunc(warnings, func(a, b Warning) int {
		switch {
		case a.Severe == b.Severe:
			return 0
		case a.Severe:
			return -1
		}
		return 1
	})
	return warnings
}
