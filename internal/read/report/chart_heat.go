package report

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/view"
)

// heatSpan is how far values must lie apart for a logarithmic scale of
// colours: an eye tells about ten steps.
const heatSpan = 10

// heat draws the chart; nil when there is nothing to draw. What names it in its
// table.
func (v *chartView) heat() (drawn *part.Heat, table part.Table, what string) {
	var xs, ys []view.Coordinate
	for _, t := range v.Tiles {
		xs, ys = append(xs, t.X), append(ys, t.Y)
	}
	v.order(xs, v.Spec.X) // the first row may lack some of them
	v.order(ys, v.Spec.Y)
	across, up := newLevels(xs, maxTiles), newLevels(ys, maxTiles)
	v.noteCut(across, v.Spec.X)
	v.noteCut(up, v.Spec.Y)
	slices.Reverse(up.all) // an axis rises
	heat := &part.Heat{
		X: v.Spec.X, Y: v.Spec.Y, Axis: directed(part.AxisTitle(v.Spec.Metric, v.scale), v.Spec.Metric), Log: spans(v.values(), heatSpan), Lower: directionOf(v.Spec.Metric) == metric.Lower,
		Columns: texts(across.all), Rows: texts(up.all),
	}
	table = part.Table{Columns: part.Titles(v.Spec.Y)}
	for _, c := range across.all {
		table.Columns = append(table.Columns, part.Figures(c.Text)...)
	}
	for _, name := range heat.Rows {
		row := part.Row(name)
		for range heat.Columns {
			row = append(row, part.Missing())
		}
		table.Rows = append(table.Rows, row)
	}
	for _, t := range v.Tiles {
		f, ok := sound(t.Figure)
		column, row := slices.Index(heat.Columns, t.X.Text), slices.Index(heat.Rows, t.Y.Text)
		if !ok || column < 0 || row < 0 {
			continue
		}
		table.Rows[row][column+1] = figureDatum(f, v.scale)
		heat.Boxes = append(heat.Boxes, part.Box{
			Column: column, Row: row, Value: part.Brief(f.Value), Text: v.scale.Format(f.Value),
			Hint:   v.Spec.X + " " + t.X.Text + ", " + v.Spec.Y + " " + t.Y.Text + ": " + printed(f, v.scale),
			Behind: v.behind(map[string]string{v.Spec.X: t.X.Text, v.Spec.Y: t.Y.Text}, anywhere),
		})
	}
	what = part.AxisTitle(v.Spec.Metric, v.scale) + ", rows by " + v.Spec.Y + ", columns by " + v.Spec.X
	if len(heat.Boxes) == 0 {
		return nil, table, what
	}
	return heat, table, what
}

// order sorts the levels of a varied factor as the study names them; newLevels sorts
// numbers by themselves.
func (v *chartView) order(levels []view.Coordinate, factor string) {
	for _, f := range v.Header.Study.Vary {
		if f.Name == factor {
			slices.SortStableFunc(levels, func(a, b view.Coordinate) int {
				switch {
				case a.Text == b.Text:
					return 0
				case cells.Before(f.Levels, a.Text, b.Text):
					return -1
				}
				return 1
			})
		}
	}
}
