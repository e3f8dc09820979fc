package report

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/part"
)

// overhead says what probing costs the arms of a cell, a row each.
func (l *layout) overhead(cell string) part.Table {
	t := part.Table{
		Caption: "What probing costs: each arm's probes divided by its ordinary trials, which ran before them, with 95 % intervals.",
		Columns: []part.Column{{Title: "arm", Kind: part.Arms}}, Folded: true,
	}
	var metrics, arms []string
	for _, o := range l.Overheads {
		if o.Cell != cell {
			continue
		}
		row := slices.Index(arms, o.Arm)
		if row < 0 {
			row, arms = len(arms), append(arms, o.Arm)
			t.Rows = append(t.Rows, append([]part.Datum{l.named(o.Arm)}, slices.Repeat([]part.Datum{part.Missing()}, len(metrics))...))
		}
		at := slices.Index(metrics, o.Metric)
		if at < 0 {
			at, metrics = len(metrics), append(metrics, o.Metric)
			t.Columns = append(t.Columns, metricColumn(o.Metric, metric.Scale{}))
			for i := range t.Rows {
				t.Rows[i] = append(t.Rows[i], part.Missing())
			}
		}
		r := &part.Ratio{Text: part.Times(o.Ratio)}
		if o.Low < o.High {
			r.Interval = part.Span(o.Low, o.High)
		}
		t.Rows[row][1+at] = part.Datum{Ratio: r}
	}
	return t
}
