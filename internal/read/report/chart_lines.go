package report

import (
	"cmp"
	"fmt"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
	"netdyno/internal/read/view"
)

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
	if v.Spec.By == "" || v.Spec.By == v.Header.Study.Compare.Factor {
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
