package report

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
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
	for _, f := range v.plan.Vary {
		if f.Name == factor {
			ordered := cells.Order(f.Levels)
			slices.SortStableFunc(levels, func(a, b view.Coordinate) int { return ordered(a.Text, b.Text) })
		}
	}
}

// lines draws the chart; nil when there is nothing to draw. What names it in its
// table.
func (v *chartView) lines() (drawn *part.Lines, table part.Table, what string) {
	lines := v.Chart.Lines
	if more := len(lines) - maxChartLines; more > 0 {
		lines = lines[:maxChartLines]
		v.cut = append(v.cut, fmt.Sprintf("%s more are in findings.json", quantity.Plural(more, "line")))
	}
	var all []view.Coordinate
	for _, line := range lines {
		for _, p := range line.Points {
			all = append(all, p.X)
		}
	}
	levels := newLevels(all, maxChartPoints)
	v.noteCut(levels, v.Spec.X)
	figure := &part.Lines{
		X: part.Axis{Title: v.Spec.X, Scale: metric.Scale{Factor: 1}, Log: spans(levels.positive(), logSpan), Ticks: levels.ticks()},
		Y: part.Axis{Title: directed(v.perLine(), v.Spec.Metric), Scale: v.scale, Log: spans(v.values(), logSpan)},
	}
	for i, line := range lines {
		one := part.Line{Colour: part.Colour{Arm: v.key(line.Name, i)}, Name: line.Name, Points: []part.LinePoint{}}
		for _, p := range line.Points {
			f, ok := sound(p.Figure)
			at, known := levels.place(p.X)
			if !ok || !known {
				continue
			}
			text := p.X.Text + ": " + printed(f, v.scale)
			one.Points = append(one.Points, part.LinePoint{
				X: at, Value: part.Brief(f.Value), Low: part.Brief(f.Low), High: part.Brief(f.High), Text: text,
				Behind: v.behind(v.withBy(map[string]string{v.Spec.X: p.X.Text}, line.Name), anywhere),
			})
		}
		if len(one.Points) > 0 {
			figure.Lines = append(figure.Lines, one)
		}
	}
	table, what = v.linesTable(lines, levels), part.AxisTitle(v.Spec.Metric, v.scale)+" by "+v.Spec.X
	if len(figure.Lines) == 0 {
		return nil, table, what
	}
	return figure, table, what
}

// perLine names the metric, and the factor whose levels name the lines unless
// these are the arms.
func (v *chartView) perLine() string {
	title := part.AxisTitle(v.Spec.Metric, v.scale)
	if v.Spec.By == "" || v.Spec.By == v.plan.Compare.Factor {
		return title
	}
	return title + " by " + v.Spec.By
}

// linesTable has a row for each line and a column for each level.
func (v *chartView) linesTable(lines []view.Line, levels levels) part.Table {
	t := part.Table{Columns: part.Titles(cmp.Or(v.Spec.By, "metric"))}
	for _, level := range levels.all {
		t.Columns = append(t.Columns, part.Figures(level.Text)...)
	}
	for i, line := range lines {
		name := part.Word(cmp.Or(line.Name, part.Label(v.Spec.Metric)))
		if line.Name != "" {
			key := v.key(line.Name, i)
			name.Arm = &key
		}
		row := []part.Datum{name}
		for _, level := range levels.all {
			row = append(row, v.pointDatum(line, level))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (v *chartView) pointDatum(line view.Line, level view.Coordinate) part.Datum {
	for _, p := range line.Points {
		if p.X.Text == level.Text {
			return figureDatum(p.Figure, v.scale)
		}
	}
	return part.Missing()
}

// maxMarks bounds the points of a front; findings.json has every one.
const maxMarks = 300

// front draws the chart; nil when there is nothing to draw. What names it in its
// table.
func (v *chartView) front() (drawn *part.Front, table part.Table, what string) {
	marks := v.ranked()
	cost := part.ScaleFor(v.Spec.Against, largestCost(marks))
	drawn = &part.Front{
		X: part.Axis{Title: directed(part.AxisTitle(v.Spec.Against, cost), v.Spec.Against), Scale: cost, Log: true},
		Y: part.Axis{Title: directed(part.AxisTitle(v.Spec.Metric, v.scale), v.Spec.Metric), Scale: v.scale, Log: true},
		// A cost that nobody declared better when higher is a cost.
		LowX: directionOf(v.Spec.Against) != metric.Higher,
	}
	table = part.Table{Columns: []part.Column{
		{Title: cmp.Or(v.Spec.By, "arm"), Kind: part.Arms}, {Title: "cell"},
		metricColumn(v.Spec.Metric, v.scale), metricColumn(v.Spec.Against, cost), {Title: "Pareto"},
	}}
	names, cells := map[string]int{}, map[string]bool{}
	for _, m := range marks {
		if _, known := names[m.Name]; !known {
			names[m.Name] = v.key(m.Name, len(names))
		}
		cells[m.Cell] = true
	}
	for _, m := range marks {
		key := names[m.Name]
		table.Rows = append(table.Rows, []part.Datum{
			{Text: cmp.Or(m.Name, "all"), Arm: &key}, part.Word(cmp.Or(m.Cell, "all")),
			figureDatum(m.Metric, v.scale), figureDatum(m.Against, cost), part.Word(paretoWords(m)),
		})
		if p, ok := v.point(m, key, cost); ok {
			p.Label = markLabel(m, len(names), len(cells))
			drawn.Points = append(drawn.Points, p)
		}
	}
	what = part.AxisTitle(v.Spec.Metric, v.scale) + " against " + part.AxisTitle(v.Spec.Against, cost) + ", the Pareto front first: no other point is as good or better in both"
	if len(drawn.Points) == 0 {
		return nil, table, what
	}
	return drawn, table, what
}

// point places a mark on the axes; false where they cannot take it.
func (v *chartView) point(m view.Mark, key int, cost metric.Scale) (part.FrontPoint, bool) {
	y, x := m.Metric, m.Against
	return part.FrontPoint{
		Colour: part.Colour{Arm: key}, Name: m.Name, On: m.Front,
		X: part.Brief(x.Value), XLow: part.Brief(x.Low), XHigh: part.Brief(x.High),
		Y: part.Brief(y.Value), YLow: part.Brief(y.Low), YHigh: part.Brief(y.High),
		Behind: v.behind(v.withBy(map[string]string{}, m.Name), func(p place) bool { return p.name == m.Cell }),
		Text:   fmt.Sprintf("%s%s: %s; %s", m.Name, v.plan.Names.At(m.Cell), printed(y, v.scale), printed(x, cost)),
	}, part.Drawable(y.Value, y.Low, y.High, x.Value, x.Low, x.High)
}

// ranked puts the front first, in the order of its cost, and keeps what a
// figure can show.
func (v *chartView) ranked() []view.Mark {
	marks := make([]view.Mark, 0, len(v.Marks))
	for _, m := range v.Marks {
		y, okY := sound(m.Metric)
		x, okX := sound(m.Against)
		if okX && okY {
			m.Metric, m.Against = y, x
			marks = append(marks, m)
		}
	}
	slices.SortStableFunc(marks, func(a, b view.Mark) int {
		switch {
		case a.Front != b.Front:
			if a.Front {
				return -1
			}
			return 1
		case a.Front && a.Against.Value < b.Against.Value:
			return -1
		case a.Front && a.Against.Value > b.Against.Value:
			return 1
		}
		return 0
	})
	if more := len(marks) - maxMarks; more > 0 {
		marks = marks[:maxMarks]
		v.cut = append(v.cut, fmt.Sprintf("%s more are in findings.json", quantity.Plural(more, "point")))
	}
	return marks
}

func largestCost(marks []view.Mark) float64 {
	largest := 0.0
	for _, m := range marks {
		largest = max(largest, m.Against.Value)
	}
	return largest
}

func paretoWords(m view.Mark) string {
	if m.Front {
		return "on the front"
	}
	return "dominated"
}

// markLabel names a mark by what tells it from the others.
func markLabel(m view.Mark, names, cells int) string {
	switch {
	case m.Cell == "" || cells < 2:
		return cmp.Or(m.Name, m.Cell)
	case m.Name == "" || names < 2:
		return m.Cell
	}
	return m.Name + ", " + m.Cell
}
