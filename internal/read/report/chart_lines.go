package report

import (
	"fmt"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/view"
)

// Lines shows a metric over the levels of a factor, a line for each level of
// another.
type Lines struct {
	X     Axis   `json:"x"`
	Y     Axis   `json:"y"`
	Lines []Line `json:"lines"`
}

// Line is one line; Name is empty when it is the only one.
type Line struct {
	Arm    int         `json:"arm"`
	Name   string      `json:"name"`
	Points []LinePoint `json:"points"`
}

// LinePoint is one value with its interval, Text what the pointer shows.
type LinePoint struct {
	X     float64 `json:"x"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Text  string  `json:"text"`
	Behind
}

// lines draws the chart; nil when there is nothing to draw. What names it in its
// table.
func (v *chartView) lines() (drawn *Lines, table Table, what string) {
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
	figure := &Lines{
		X: Axis{Title: v.Spec.X, Scale: metric.Scale{Factor: 1}, Log: spans(levels.positive(), logSpan), Ticks: levels.ticks()},
		Y: Axis{Title: directed(v.perLine(), v.Spec.Metric), Scale: v.scale, Log: spans(v.values(), logSpan)},
	}
	for i, line := range lines {
		one := Line{Arm: v.key(line.Name, i), Name: line.Name, Points: []LinePoint{}}
		for _, p := range line.Points {
			f, ok := sound(p.Figure)
			at, known := levels.place(p.X)
			if !ok || !known {
				continue
			}
			text := p.X.Text + ": " + printed(f, v.scale)
			one.Points = append(one.Points, LinePoint{
				at, brief(f.Value), brief(f.Low), brief(f.High), text,
				v.behind(v.withBy(map[string]string{v.Spec.X: p.X.Text}, line.Name), anywhere),
			})
		}
		if len(one.Points) > 0 {
			figure.Lines = append(figure.Lines, one)
		}
	}
	table, what = v.linesTable(lines, levels), axisTitle(v.Spec.Metric, v.scale)+" by "+v.Spec.X
	if len(figure.Lines) == 0 {
		return nil, table, what
	}
	return figure, table, what
}

// perLine names the metric, and the factor whose levels name the lines unless
// these are the arms.
func (v *chartView) perLine() string {
	title := axisTitle(v.Spec.Metric, v.scale)
	if v.Spec.By == "" || v.Spec.By == v.Header.Study.Compare.Factor {
		return title
	}
	return title + " by " + v.Spec.By
}

// linesTable has a row for each line and a column for each level.
func (v *chartView) linesTable(lines []view.Line, levels levels) Table {
	t := Table{Columns: columns(or(v.Spec.By, "metric"))}
	for _, level := range levels.all {
		t.Columns = append(t.Columns, numbers(level.Text)...)
	}
	for i, line := range lines {
		name := word(or(line.Name, labelOf(v.Spec.Metric)))
		if line.Name != "" {
			key := v.key(line.Name, i)
			name.Arm = &key
		}
		row := []Datum{name}
		for _, level := range levels.all {
			row = append(row, v.pointDatum(line, level))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (v *chartView) pointDatum(line view.Line, level view.Coordinate) Datum {
	for _, p := range line.Points {
		if p.X.Text == level.Text {
			return figureDatum(p.Figure, v.scale)
		}
	}
	return missing()
}
