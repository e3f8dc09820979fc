package report

import (
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// atLeastText marks the text of a figure that is a lower bound.
func atLeastText(text string, atLeast bool) string {
	if atLeast {
		return "≥ " + text
	}
	return text
}

// figureText prints an arm's figure.
func figureText(m cells.Summary, s metric.Scale) string {
	return atLeastText(s.Format(m.Value), m.AtLeast)
}

// figureOf is an arm's figure with its interval, which a lower bound has none of, or why
// it is not shown. An interval whose ends are printed as the figure is left out.
func figureOf(m cells.Summary, s metric.Scale) part.Datum {
	if !m.Known() {
		return part.Unknown(m.N, m.Of)
	}
	text := figureText(m, s)
	if !m.Sure() || m.AtLeast || s.Format(m.Low) == text && s.Format(m.High) == text {
		return part.Value(text, "")
	}
	return part.Value(text, s.Interval(m.Low, m.High))
}

// armFigure is figureOf an arm's metric; missing where it has none.
func armFigure(a cells.Arm, name string, s metric.Scale) part.Datum {
	if m, ok := summaryOf(a, name); ok {
		return figureOf(m, s)
	}
	return part.Missing()
}

// quotientOf are the two figures that a comparison's ratio is the quotient of;
// missing where there is no ratio.
func quotientOf(c compare.Comparison) (value, base part.Datum) {
	if c.Ratio == 0 {
		return part.Missing(), part.Missing()
	}
	s := part.ScaleFor(c.Metric, max(c.Value, c.BaseValue))
	value, base = part.InUnit(c.Value, s), part.InUnit(c.BaseValue, s)
	value.Figure.Text = atLeastText(value.Figure.Text, c.AtLeast)
	base.Figure.Text = atLeastText(base.Figure.Text, c.BaseAtLeast)
	return value, base
}

// overShared says which figures a ratio is the quotient of where these are not
// the arms' own, as the arms do not share all blocks; "" where they are.
func overShared(c compare.Comparison, s metric.Scale) string {
	if !c.Partial || c.Ratio <= 0 || !c.Known() {
		return ""
	}
	return s.Format(c.Value) + " ÷ " + s.Format(c.BaseValue) + " " + s.Unit + " over " + quantity.Plural(c.Blocks, "shared block")
}

// withheld reports an explored comparison whose figures may not be compared:
// its ratio is not shown.
func withheld(c compare.Comparison) bool { return c.Verdict == compare.NotJudged && c.Reason != "" }

// arithmetic names the metrics of a table whose means are arithmetic, with the
// arms where these are not all.
func arithmetic(c cells.Cell, metrics []string) []string {
	var parts []string
	for _, name := range metrics {
		var arms []string
		measured := 0
		for _, a := range c.Arms {
			if m, ok := summaryOf(a, name); ok {
				measured++
				if m.Mean == cells.Arithmetic && m.Value != 0 {
					arms = append(arms, a.Name)
				}
			}
		}
		switch len(arms) {
		case 0:
		case measured:
			parts = append(parts, part.Label(name))
		default:
			parts = append(parts, part.Label(name)+" of "+strings.Join(arms, ", "))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"Arithmetic means, because one of the figures is 0: " + strings.Join(parts, "; ") + "."}
}

// severalArms reports whether a cell has an arm to compare with the baseline.
func severalArms(c cells.Cell) bool {
	return slices.ContainsFunc(c.Arms, func(a cells.Arm) bool { return !a.Baseline })
}

// metricColumn heads a column of a metric's figures in a unit.
func metricColumn(name string, s metric.Scale) part.Column {
	return part.Column{Title: part.Label(name), Kind: part.Numbers, Unit: s.Unit, Metric: name}
}

// byMetric is a table of metrics by arms: metrics are many, arms are few. With
// medians each arm has a second column; without, a metric that is 0 in every arm is
// named in a note instead.
func (l *layout) byMetric(c cells.Cell, metrics []string, caption string, medians bool) part.Table {
	t := part.Table{Caption: caption, Columns: part.Titles("metric", "unit")}
	var zeros []string
	if !medians {
		metrics, zeros = apartZeros(c, metrics)
	}
	t.Notes = arithmetic(c, metrics)
	if len(zeros) > 0 {
		t.Notes = append(t.Notes, "0 in every arm: "+strings.Join(zeros, ", ")+".")
	}
	for _, a := range c.Arms {
		t.Columns = append(t.Columns, part.Figures(l.called(a.Name))...)
		if medians {
			t.Columns = append(t.Columns, part.Figures("its median")...)
		}
	}
	for _, name := range metrics {
		s := scaleOf(c, name)
		row := []part.Datum{part.Word(part.Label(name)), part.Word(s.Unit)}
		if medians { // the whole list: here a reader finds the name to type
			row[0].Detail = name
		}
		for _, a := range c.Arms {
			row = append(row, armFigure(a, name, s))
			if medians {
				row = append(row, medianOf(a, name, s))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// apartZeros parts the metrics from the labels of those that are 0 in every arm that
// has them.
func apartZeros(c cells.Cell, metrics []string) (others, zeros []string) {
	for _, name := range metrics {
		if slices.ContainsFunc(c.Arms, func(a cells.Arm) bool { m, ok := summaryOf(a, name); return ok && m.High != 0 }) {
			others = append(others, name)
		} else {
			zeros = append(zeros, part.Label(name))
		}
	}
	return others, zeros
}

func medianOf(a cells.Arm, name string, s metric.Scale) part.Datum {
	if m, ok := summaryOf(a, name); ok {
		return part.Value(atLeastText(s.Format(m.Median), m.AtLeast), "")
	}
	return part.Missing()
}
