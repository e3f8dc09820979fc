package report

import (
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
)

// withRatios adds a column of ratios for each primary metric, none in a cell of
// the baseline alone: nothing is set against itself.
func (l *layout) withRatios(c cells.Cell, t Table) Table {
	if !severalArms(c) {
		return withLimit(c, t)
	}
	t.Columns = slices.Clone(t.Columns)
	t.Rows = slices.Clone(t.Rows)
	for _, metric := range l.Header.Study.Compare.Primary {
		t.Columns = append(t.Columns, Column{Title: labelOf(metric), Unit: "÷ " + l.Header.Study.Compare.Baseline, Number: true})
		for i, a := range c.Arms {
			t.Rows[i] = append(slices.Clone(t.Rows[i]), l.ratioDatum(c, a, metric))
		}
	}
	t.Notes = slices.Concat(t.Notes, l.overShared(c))
	return withLimit(c, t)
}

func (l *layout) ratioDatum(c cells.Cell, a cells.Arm, metric string) Datum {
	cmp, ok := l.compared[comparisonKey{c.Name, a.Name, metric}]
	switch {
	case a.Baseline:
		return Datum{}
	case !ok:
		return Datum{Text: "–"}
	case cmp.Ratio <= 0:
		return Datum{Text: "–", Verdict: cmp.Verdict}
	}
	return Datum{Text: ratio(cmp.Ratio), Detail: ratioInterval(cmp.Low, cmp.High), Verdict: cmp.Verdict}
}

// ratioTable has one row per arm and primary metric.
func (l *layout) ratioTable(c cells.Cell) Table {
	t := Table{
		Caption: "Ratio to " + or(l.Header.Study.Compare.Baseline, "the baseline"),
		Columns: head("arm", "metric", "#ratio", "verdict"),
		Notes:   l.overShared(c),
	}
	if !severalArms(c) {
		return Table{}
	}
	for _, a := range c.Arms {
		if a.Baseline {
			continue
		}
		for _, metric := range l.Header.Study.Compare.Primary {
			datum := l.ratioDatum(c, a, metric)
			verdict := Datum{Text: string(datum.Verdict), Verdict: datum.Verdict}
			datum.Verdict = ""
			t.Rows = append(t.Rows, []Datum{l.armDatum(a), {Text: labelOf(metric)}, datum, verdict})
		}
	}
	return t
}

// ratioOrNone is a comparison's ratio; "–" where it has none.
func ratioOrNone(c compare.Comparison) string {
	if c.Ratio == 0 {
		return "–"
	}
	return ratio(c.Ratio)
}

func intervalOrNone(c compare.Comparison) string {
	if c.Ratio == 0 {
		return "–"
	}
	return ratioInterval(c.Low, c.High)
}

// quotientOf are the two figures that a comparison's ratio is the quotient of,
// each with its unit; "–" where there is no ratio.
func quotientOf(c compare.Comparison) (value, base string) {
	if c.Ratio == 0 {
		return "–", "–"
	}
	s := scaleFor(c.Metric, max(c.Value, c.BaseValue))
	return s.Format(c.Value) + " " + s.Unit, s.Format(c.BaseValue) + " " + s.Unit
}
