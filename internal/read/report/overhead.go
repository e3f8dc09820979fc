package report

import (
	"slices"

	"netdyno/internal/metric"
)

// overhead says what probing costs the arms of a cell, a row each.
func (l *layout) overhead(cell string) Table {
	t := Table{
		Caption: "What probing costs: each arm's probes divided by its ordinary trials, which ran before them, with 95 % intervals.",
		Columns: []Column{{Title: "arm", Kind: Arms}}, Folded: true,
	}
	var metrics, arms []string
	for _, o := range l.Overheads {
		if o.Cell != cell {
			continue
		}
		row := slices.Index(arms, o.Arm)
		if row < 0 {
			row, arms = len(arms), append(arms, o.Arm)
			t.Rows = append(t.Rows, append([]Datum{l.named(o.Arm)}, slices.Repeat([]Datum{missing()}, len(metrics))...))
		}
		at := slices.Index(metrics, o.Metric)
		if at < 0 {
			at, metrics = len(metrics), append(metrics, o.Metric)
			t.Columns = append(t.Columns, metricColumn(o.Metric, metric.Scale{}))
			for i := range t.Rows {
				t.Rows[i] = append(t.Rows[i], missing())
			}
		}
		r := &Ratio{Text: ratio(o.Ratio)}
		if o.Low < o.High {
			r.Interval = ratioInterval(o.Low, o.High)
		}
		t.Rows[row][1+at] = Datum{Ratio: r}
	}
	return t
}
