package report

import (
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cost"
	"netdyno/internal/read/finding"
)

// costs makes a section of every cost that the study models: the sentences, the
// coefficients, and the cells by which the models were judged.
func (l *layout) costs() []Section {
	sections := make([]Section, 0, len(l.Findings.Costs))
	for i, c := range l.Findings.Costs {
		s := Section{ID: fmt.Sprintf("cost-%d", i+1), Title: c.Spec.Title}
		if c.Reason != "" {
			s.Note = sentence("not modelled: " + c.Reason)
			sections = append(sections, s)
			continue
		}
		s.Tables = []Table{l.costErrors(c), l.costParts(c), l.heldOut(c)}
		for _, m := range c.Models {
			s.Tables[0].Notes = append(s.Tables[0].Notes, m.Sentence)
		}
		sections = append(sections, s)
	}
	return sections
}

// costErrors has a line for each model: how far it is off where it has not looked.
func (l *layout) costErrors(c cost.Cost) Table {
	t := Table{
		Caption: fmt.Sprintf("Errors are predicted ÷ measured − 1 in cells that the model has not seen. One that misses one in ten (90 %%) by more than %s is rough, and by more than %s of no use for a plan.", percent(cost.Tolerance), percent(cost.Unusable)),
		Columns: slices.Concat(ofKind(Arms, "arm"), columns("levels"), numbers("fitted", "not seen", "median", "90 %", "largest"), columns("at", "")),
	}
	for _, m := range c.Models {
		row := []Datum{l.named(m.Arm), word(m.At), number(fmt.Sprint(m.Fitted), ""), number(fmt.Sprint(len(m.HeldOut)), "")}
		verdict := "holds"
		switch {
		case m.Reason != "":
			verdict = "no model"
		case m.Rough:
			verdict = "rough"
		}
		if worst, ok := m.Worst(); ok {
			row = append(row, number(percent(m.Median), ""), number(percent(m.P90), ""), number(percent(worst.Error), ""), word(worst.Cell))
		} else {
			row = append(row, missing(), missing(), missing(), word(""))
		}
		t.Rows = append(t.Rows, append(row, word(verdict)))
	}
	return t
}

// costParts lists the coefficients, each with what it is of.
func (l *layout) costParts(c cost.Cost) Table {
	t := Table{
		Caption: c.Spec.Metric + " is the sum of these. Intervals are 95 % over blocks; parts that the fitted cells do not ask for are left out.",
		Columns: slices.Concat(ofKind(Arms, "arm"), columns("levels", "per"), numbers("amount")),
	}
	for _, m := range c.Models {
		for _, x := range m.Coefficients {
			value, of := finding.CostPart(c, x)
			share := 0.0
			if x.Value != 0 {
				share = value / x.Value
			}
			s := metric.Scale{Factor: 1, Unit: c.Unit}
			if big := max(value, -value); c.Unit == "B" && big >= 1 {
				s = scaleFor(c.Spec.Metric, big)
			}
			t.Rows = append(t.Rows, []Datum{l.named(m.Arm), word(m.At), word(of), amount(value, x.Low*share, x.High*share, s)})
		}
	}
	return t
}

// heldOut lists the cells by which the models were judged.
func (l *layout) heldOut(c cost.Cost) Table {
	t := Table{
		Caption: "The cells that no model has seen.", Folded: true,
		Columns: slices.Concat(ofKind(Arms, "arm"), columns("cell"), numbers("measured", "predicted", "error")),
	}
	for _, m := range c.Models {
		for _, h := range m.HeldOut {
			s := scaleFor(c.Spec.Metric, max(h.Measured, h.Predicted))
			t.Rows = append(t.Rows, []Datum{l.named(m.Arm), word(h.Cell), inUnit(h.Measured, s), inUnit(h.Predicted, s), number(percent(h.Error), "")})
		}
	}
	return t
}

// costForms are what a terminal shows of a study of costs: what every model gives at
// the ends of what was fitted, and how far it is off.
func (l *layout) costForms() [][]Table {
	factors := l.costFactors()
	t := Table{Columns: slices.Concat(ofKind(Arms, ""), columns(""), numbers("off by", "least"))}
	for _, factor := range factors {
		title := factor
		for _, c := range l.Findings.Costs {
			for _, m := range c.Models {
				if _, most := m.Corner(factor); most > 0 {
					title = factor + " " + cost.Amount(factor, most)
				}
			}
		}
		t.Columns = append(t.Columns, numbers(title)...)
	}
	for _, c := range l.Findings.Costs {
		for _, m := range c.Models {
			row := []Datum{l.named(joined(" ", m.Arm, m.At)), word(labelOf(c.Spec.Metric)), offBy(m)}
			for _, factor := range append([]string{""}, factors...) {
				row = append(row, atCorner(c, m, factor))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return [][]Table{{t}}
}

// costFactors are the factors of all models, in the order in which the study names
// them.
func (l *layout) costFactors() []string {
	var all []string
	for _, c := range l.Findings.Costs {
		for _, factor := range append(slices.Clone(c.Spec.Terms), c.Spec.Per) {
			if factor != "" && !slices.Contains(all, factor) {
				all = append(all, factor)
			}
		}
	}
	return all
}

func atCorner(c cost.Cost, m cost.Model, factor string) Datum {
	x, _ := m.Corner(factor)
	f, ok := m.Expected(x)
	if !ok {
		return missing()
	}
	return inUnit(f.Value, scaleFor(c.Spec.Metric, f.Value))
}

func offBy(m cost.Model) Datum {
	switch {
	case len(m.HeldOut) == 0:
		return missing()
	case m.Reason != "":
		return number("! "+percent(m.P90), "")
	case m.Rough:
		return number("~ "+percent(m.P90), "")
	}
	return number(percent(m.P90), "")
}
