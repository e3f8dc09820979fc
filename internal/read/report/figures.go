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
	if m, ok := a.Summary(name); ok {
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
// the arms' own, as the arms do not share all blocks, or what others took of the CPUs; ""
// where they are.
func overShared(c compare.Comparison) string {
	s, over := part.ScaleFor(c.Metric, max(c.Value, c.BaseValue)), ""
	if c.EqualShares {
		over = " beside equal shares of others"
	}
	switch {
	case c.Quiet:
		over += " over " + quantity.Plural(c.Blocks, "quiet block")
	case c.Partial:
		over += " over " + quantity.Plural(c.Blocks, "shared block")
	}
	if over == "" || c.Ratio <= 0 || !c.Known() {
		return ""
	}
	return s.Format(c.Value) + " ÷ " + s.Format(c.BaseValue) + " " + s.Unit + over
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
			if m, ok := a.Summary(name); ok {
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
