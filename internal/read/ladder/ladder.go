// Package ladder sets each arm of a sequence that a study declares against the one before,
// and the last against the first.
package ladder

import (
	"cmp"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// Ladder is what became of one ladder of the study: its steps on each primary metric in
// each cell that has both their arms.
type Ladder struct {
	Spec  record.Ladder        `json:"spec"`
	Steps []compare.Comparison `json:"steps"`
}

// Ladders are what became of a study's ladders.
type Ladders []Ladder

// Read makes the study's ladders. The steps of a ladder on one metric in one cell are a
// family: they share the level.
func Read(s *cells.Dataset, noise []compare.Noise) Ladders {
	bounds := compare.BoundsOf(noise)
	var all Ladders
	for _, spec := range s.Ladders {
		l := Ladder{Spec: spec}
		for _, name := range s.Compare.Primary {
			m, err := metric.Named(name)
			if err != nil {
				continue // Find has failed by then
			}
			l.Steps = append(l.Steps, cells.EachCell(s, func(cell string) []compare.Comparison {
				return steps(s, cell, m, spec, bounds[[2]string{cell, name}])
			})...)
		}
		all = append(all, l)
	}
	return all
}

func steps(s *cells.Dataset, cell string, m metric.Metric, spec record.Ladder, bound float64) (judged []compare.Comparison) {
	var family []*compare.Pending
	for _, pair := range spec.Pairs() {
		if len(s.Of(cell, pair.Arm)) > 0 && len(s.Of(cell, pair.Base)) > 0 {
			b := compare.Prepare(s, cell, m, pair.Arm, pair.Base)
			b.Bound = max(compare.Margin(s.Compare), bound)
			family = append(family, b)
		}
	}
	compare.ShareLevel(family)
	for _, b := range family {
		b.Judge()
		judged = append(judged, b.Comparison)
	}
	return judged
}

// Part has a table for each ladder.
func (all Ladders) Part() part.Part {
	p := part.Part{ID: "ladders", Title: "Step by step", Lines: terminalLines}
	for _, l := range all {
		if len(l.Steps) == 0 {
			continue
		}
		title := l.Spec.Title
		if n := len(l.Spec.Arms); title == "" && n > 0 {
			title = "From " + l.Spec.Arms[0] + " to " + l.Spec.Arms[n-1]
		}
		p.Sections = append(p.Sections, part.Section{ID: "ladder-" + part.Count(len(p.Sections)+1).Figure.Text, Title: title, Notes: l.notes(), Tables: []part.Table{l.table()}})
	}
	return p
}

// terminalLines bounds what a terminal shows of ladders.
const terminalLines = 60

// notes name the steps that change several things.
func (l Ladder) notes() []string {
	var notes []string
	for i, step := range l.Spec.Steps {
		if pairs := l.Spec.Pairs(); len(step.Changes) > 1 && i < len(pairs) {
			notes = append(notes, "The step from "+pairs[i].Base+" to "+pairs[i].Arm+" changes several things at once: "+strings.Join(step.Changes, ", ")+".")
		}
	}
	return notes
}

func (l Ladder) table() part.Table {
	t := part.Table{
		Caption: "Each arm ÷ the one before, and the last ÷ the first. The steps of a cell and metric share the level.",
		Columns: append(part.Titles("cell", "metric", "step"), part.Column{Title: "ratio", Kind: part.Numbers, Ratios: part.Judged}),
	}
	for _, c := range l.Steps {
		ratio := part.Quotient(c)
		if ratio.Ratio != nil {
			ratio.Ratio.Verdict = c.Verdict
		}
		t.Rows = append(t.Rows, []part.Datum{part.Word(cmp.Or(c.Cell, "all")), part.Word(part.Label(c.Metric)), part.Word(l.step(c)), ratio})
		if c.Verdict.Refused() {
			t.Notes = append(t.Notes, part.Capital(c.Arm+" ÷ "+c.Base+cells.InCell(c.Cell)+": "+c.Reason+"."))
		}
	}
	return part.Bounded(t)
}

// step names a step by the study's title and its arms.
func (l Ladder) step(c compare.Comparison) string {
	arms := c.Base + " → " + c.Arm
	for i, pair := range l.Spec.Pairs() {
		if i < len(l.Spec.Steps) && l.Spec.Steps[i].Title != "" && pair.Arm == c.Arm && pair.Base == c.Base {
			return l.Spec.Steps[i].Title + ": " + arms
		}
	}
	return arms
}
