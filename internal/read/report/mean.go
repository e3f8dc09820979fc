package report

import (
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
)

// figureText prints an arm's figure; as a lower bound where exchanges that never
// completed would raise it in one of the trials.
func figureText(a cells.Arm, m cells.Summary, s metric.Scale) string {
	if trial.MovedIn(a.Trials, m.Metric) > 0 {
		return "≥ " + s.Format(m.Value)
	}
	return s.Format(m.Value)
}

// figureOf is an arm's figure with its interval, which one block does not give.
func figureOf(a cells.Arm, m cells.Summary, s metric.Scale) Datum {
	d := Datum{Text: figureText(a, m, s)}
	if m.N > 1 {
		d.Detail = s.Interval(m.Low, m.High)
	}
	return d
}

// arithmetic names the metrics of a table whose means are arithmetic, with the
// arms where these are not all.
func arithmetic(c cells.Cell, metrics []string) []string {
	var parts []string
	for _, metric := range metrics {
		var arms []string
		measured := 0
		for _, a := range c.Arms {
			if m, ok := summaryOf(a, metric); ok {
				measured++
				if m.Mean == cells.Arithmetic && m.Value != 0 {
					arms = append(arms, a.Name)
				}
			}
		}
		switch len(arms) {
		case 0:
		case measured:
			parts = append(parts, labelOf(metric))
		default:
			parts = append(parts, labelOf(metric)+" of "+strings.Join(arms, ", "))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"Arithmetic means, as a figure of 0 occurs: " + strings.Join(parts, "; ") + "."}
}

// shared tells which figures a ratio is the quotient of where these are not the
// arms' own, as the arms do not share all blocks; "" where they are.
func shared(c compare.Comparison, s metric.Scale) string {
	if !c.Partial || c.Ratio <= 0 {
		return ""
	}
	return s.Format(c.Value) + " ÷ " + s.Format(c.BaseValue) + " " + s.Unit + " over " + plural(c.Blocks, "shared block")
}

// overShared lists what shared tells of the primary comparisons of a cell.
func (l *layout) overShared(c cells.Cell) []string {
	var parts []string
	for _, metric := range l.Header.Study.Compare.Primary {
		for _, a := range c.Arms {
			cmp, ok := l.compared[comparisonKey{c.Name, a.Name, metric}]
			if of := shared(cmp, scaleOf(c, metric)); ok && of != "" {
				parts = append(parts, a.Name+" "+ratio(cmp.Ratio)+" "+labelOf(metric)+" is "+of)
			}
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"Ratios of arms that do not share all blocks: " + strings.Join(parts, "; ") + "."}
}

// severalArms tells whether a cell has an arm to set against the baseline.
func severalArms(c cells.Cell) bool {
	return slices.ContainsFunc(c.Arms, func(a cells.Arm) bool { return !a.Baseline })
}
