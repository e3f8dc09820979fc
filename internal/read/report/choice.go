package report

import (
	"fmt"
	"slices"

	"netdyno/internal/read/view"
)

// choices makes a section of every choice that the study asked for: the sentence,
// and every arm and cell with what it reaches and what that costs.
func (l *layout) choices() []Section {
	sections := make([]Section, 0, len(l.Findings.Choices))
	for i, c := range l.Findings.Choices {
		s := Section{
			ID:    fmt.Sprintf("choice-%d", i+1),
			Title: or(c.Spec.Title, "The best "+labelOf(c.Spec.Best)+" within the bounds"),
			Note:  c.Sentence,
		}
		if c.Reason != "" {
			s.Note = sentence("no choice: " + c.Reason)
		} else {
			s.Tables = []Table{l.optionsOf(c)}
		}
		sections = append(sections, s)
	}
	return sections
}

// optionsOf lists every arm and cell with its figures, the chosen one marked.
func (l *layout) optionsOf(c view.Choice) Table {
	t := Table{
		Caption: "A bound is met or broken when the figure's 95 % interval lies wholly on one side of it.",
		Columns: slices.Concat(ofKind(Arms, "arm"), columns("cell", "choice"), numbers(labelOf(c.Spec.Best))),
	}
	scale := scaleFor(c.Spec.Best, c.Best.Figure.Value)
	for _, b := range c.Spec.Within {
		sign := " ≤ "
		if b.AtLeast {
			sign = " ≥ "
		}
		t.Columns = append(t.Columns, slices.Concat(numbers(labelOf(b.Metric)), columns(labelOf(b.Metric)+sign+b.Text))...)
	}
	for _, o := range c.Options {
		what := ""
		switch {
		case c.Chosen != nil && o.Key == c.Chosen.Key:
			what = "chosen"
		case o.Key == c.Best.Key:
			what = "best"
		}
		row := []Datum{l.named(o.Arm), word(o.Cell), word(what), amountOf(o.Figure, scale)}
		for i, k := range o.Bounds {
			s := scaleFor(c.Spec.Within[i].Metric, c.Best.Bounds[i].Figure.Value)
			row = append(row, amountOf(k.Figure, s), word(string(k.State)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
