package cost

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// Costs are what a study models.
type Costs []Cost

// Headline says how many of a study's models are good.
func (all Costs) Headline() part.Headline {
	if len(all) == 0 {
		return part.Headline{}
	}
	h := part.Headline{Place: part.Before, Sentences: []string{all.sentence()}, Tables: []part.Table{all.ends()}}
	for _, c := range all {
		for _, m := range c.Models {
			if m.Reason != "" {
				h.Warnings = append(h.Warnings, record.Warning{
					About: "cost", Text: m.Sentence, Advice: "run more blocks on a quieter machine, or fewer sizes that lie closer together",
				})
			}
		}
	}
	return h
}

// Whole tells whether every model can be used.
func (all Costs) Whole() bool {
	return !slices.ContainsFunc(all, func(c Cost) bool {
		return c.Reason != "" || slices.ContainsFunc(c.Models, func(m Model) bool { return m.Reason != "" })
	})
}

// Part has a section of every cost: the sentences, the coefficients, and the cells by
// which the models were judged.
func (all Costs) Part() part.Part {
	p := part.Part{ID: "costs", Title: "What it costs"}
	for i, c := range all {
		s := part.Section{ID: fmt.Sprintf("cost-%d", i+1), Title: c.Spec.Title}
		if c.Reason != "" {
			s.Sentences = []string{part.Sentence("not modelled: " + c.Reason)}
		} else {
			s.Figure = c.figure()
			errors := c.errorTable()
			var verdicts []string
			for _, m := range c.Models {
				errors.Notes = append(errors.Notes, m.Sentence)
				verdicts = append(verdicts, m.verdict())
			}
			s.Tables = []part.Table{folded(errors), folded(c.coefficientTable()), c.heldOutTable()}
			s.Sentences = []string{part.Dotted(strings.Join(verdicts, "; "))}
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

// folded closes a table on the page until it is asked for; a terminal shows it.
func folded(t part.Table) part.Table {
	open := t
	t.Folded, t.Terminal = true, &open
	return t
}

// errorTable has a line for each model: how far it is off where it has not looked.
func (c Cost) errorTable() part.Table {
	t := part.Table{
		Caption: "How far each model is off in cells that it has not seen.",
		Notes:   []string{fmt.Sprintf("Errors are predicted ÷ measured − 1. A model that misses one in ten (90 %%) by more than %s is rough, and by more than %s of no use for a plan.", quantity.FormatShare(Tolerance), quantity.FormatShare(Unusable))},
		Columns: slices.Concat(part.OfKind(part.Arms, "arm"), part.Titles("levels"), part.Figures("fitted", "not seen", "median", "90 %", "largest"), part.Titles("at", "")),
	}
	for _, m := range c.Models {
		row := []part.Datum{part.Word(m.Arm), part.Word(m.At), part.Count(m.Fitted), part.Count(len(m.HeldOut))}
		verdict := "holds"
		switch {
		case m.Reason != "":
			verdict = "no model"
		case m.Rough:
			verdict = "rough"
		}
		if worst, ok := m.Worst(); ok {
			row = append(row, part.Value(quantity.FormatShare(m.Median), ""), part.Value(quantity.FormatShare(m.P90), ""), part.Value(quantity.FormatShare(worst.Error), ""), part.Word(worst.Cell))
		} else {
			row = append(row, part.Missing(), part.Missing(), part.Missing(), part.Word(""))
		}
		t.Rows = append(t.Rows, append(row, part.Word(verdict)))
	}
	return t
}

// coefficientTable lists the coefficients, each with what it is of.
func (c Cost) coefficientTable() part.Table {
	t := part.Table{
		Caption: part.Capital(part.Label(c.Spec.Metric)) + " is the sum of these. Intervals are 95 % over blocks; parts that the fitted cells do not ask for are left out.",
		Columns: slices.Concat(part.OfKind(part.Arms, "arm"), part.Titles("levels", "per"), part.Figures("amount")),
	}
	for _, m := range c.Models {
		for _, x := range m.Coefficients {
			value, of := c.shown(x)
			share := 0.0
			if x.Value != 0 {
				share = value / x.Value
			}
			s := metric.Scale{Factor: 1, Unit: c.Unit}
			if big := max(value, -value); c.Unit == "B" && big >= 1 {
				s = part.ScaleFor(c.Spec.Metric, big)
			}
			t.Rows = append(t.Rows, []part.Datum{part.Word(m.Arm), part.Word(m.At), part.Word(of), part.Amount(value, x.Low*share, x.High*share, s)})
		}
	}
	return t
}

// heldOutTable lists the cells by which the models were judged.
func (c Cost) heldOutTable() part.Table {
	t := part.Table{
		Caption: "The cells that no model has seen.", Folded: true,
		Columns: slices.Concat(part.OfKind(part.Arms, "arm"), part.Titles("cell"), part.Figures("measured", "predicted", "error")),
	}
	for _, m := range c.Models {
		for _, h := range m.HeldOut {
			s := part.ScaleFor(c.Spec.Metric, max(h.Measured, h.Predicted))
			t.Rows = append(t.Rows, []part.Datum{part.Word(m.Arm), part.Word(h.Cell), part.InUnit(h.Measured, s), part.InUnit(h.Predicted, s), part.Value(quantity.FormatShare(h.Error), "")})
		}
	}
	return t
}

// ends are what every model gives at the ends of what was fitted, and how far it is off.
func (all Costs) ends() part.Table {
	factors := all.factors()
	t := part.Table{Columns: slices.Concat(part.OfKind(part.Arms, ""), part.Titles(""), part.Figures("off by", "least"))}
	for _, factor := range factors {
		title := factor
		for _, c := range all {
			for _, m := range c.Models {
				if _, most := m.Corner(factor); most > 0 {
					title = factor + " " + Amount(factor, most)
				}
			}
		}
		t.Columns = append(t.Columns, part.Figures(title)...)
	}
	for _, c := range all {
		for _, m := range c.Models {
			row := []part.Datum{part.Word(m.named()), part.Word(part.Label(c.Spec.Metric)), offBy(m)}
			for _, factor := range append([]string{""}, factors...) {
				row = append(row, atCorner(c, m, factor))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// factors are the factors of all models, in the order in which the study names
// them.
func (all Costs) factors() []string {
	var names []string
	for _, c := range all {
		for _, factor := range append(slices.Clone(c.Spec.Terms), c.Spec.Per) {
			if factor != "" && !slices.Contains(names, factor) {
				names = append(names, factor)
			}
		}
	}
	return names
}

func atCorner(c Cost, m Model, factor string) part.Datum {
	x, _ := m.Corner(factor)
	f, ok := m.Expected(x)
	if !ok {
		return part.Missing()
	}
	return part.InUnit(f.Value, part.ScaleFor(c.Spec.Metric, f.Value))
}

func offBy(m Model) part.Datum {
	switch {
	case len(m.HeldOut) == 0:
		return part.Missing()
	case m.Reason != "":
		return part.Value("! "+quantity.FormatShare(m.P90), "")
	case m.Rough:
		return part.Value("~ "+quantity.FormatShare(m.P90), "")
	}
	return part.Value(quantity.FormatShare(m.P90), "")
}
