package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/view"
)

// Axis is one axis of a chart: of a metric in the unit of Scale, or of a
// factor with its levels as Ticks.
type Axis struct {
	Title string       `json:"title"`
	Scale metric.Scale `json:"scale"`
	Log   bool         `json:"log,omitempty"` // a level of zero stands apart, before a gap
	Ticks []Tick       `json:"ticks,omitempty"`
}

// Tick is one level at its place.
type Tick struct {
	At   float64 `json:"at"`
	Text string  `json:"text"`
}

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
}

// figuresIn lists every figure of a chart by its metric.
func figuresIn(c view.Chart) []cells.Figure {
	var figures []cells.Figure
	add := func(f cells.Figure) {
		if f, ok := sound(f); ok {
			figures = append(figures, f)
		}
	}
	for _, line := range c.Lines {
		for _, p := range line.Points {
			add(p.Figure)
		}
	}
	for _, t := range c.Tiles {
		add(t.Figure)
	}
	for _, m := range c.Marks {
		add(m.Metric)
	}
	return figures
}

func (v *chartView) lines() Chart {
	lines := v.Chart.Lines
	if more := len(lines) - maxChartLines; more > 0 {
		lines = lines[:maxChartLines]
		v.cut = append(v.cut, fmt.Sprintf("%s more are in findings.json.", plural(more, "line")))
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
		drawn := Line{Arm: v.key(line.Name, i), Name: line.Name, Points: []LinePoint{}}
		for _, p := range line.Points {
			f, ok := sound(p.Figure)
			at, known := levels.place(p.X)
			if !ok || !known {
				continue
			}
			text := p.X.Text + ": " + printed(f, v.scale)
			drawn.Points = append(drawn.Points, LinePoint{at, brief(f.Value), brief(f.Low), brief(f.High), text})
		}
		if len(drawn.Points) > 0 {
			figure.Lines = append(figure.Lines, drawn)
		}
	}
	chart := Chart{What: axisTitle(v.Spec.Metric, v.scale) + " by " + v.Spec.X, Table: v.linesTable(lines, levels)}
	if len(figure.Lines) > 0 {
		chart.Figure.Lines = figure
	}
	return chart
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

func (v *chartView) values() []float64 {
	var values []float64
	for _, f := range figuresIn(v.Chart) {
		values = append(values, f.Value)
	}
	return values
}

func (v *chartView) noteCut(l levels, factor string) {
	if l.more > 0 {
		v.cut = append(v.cut, fmt.Sprintf("%s more of %s are in findings.json.", plural(l.more, "level"), factor))
	}
}

// linesTable has a row for each line and a column for each level.
func (v *chartView) linesTable(lines []view.Line, levels levels) Table {
	t := Table{Columns: head(or(v.Spec.By, "metric"))}
	for _, level := range levels.all {
		t.Columns = append(t.Columns, Column{Title: level.Text, Number: true})
	}
	for i, line := range lines {
		row := []Datum{{Text: or(line.Name, labelOf(v.Spec.Metric))}}
		if line.Name != "" {
			key := v.key(line.Name, i)
			row[0].Arm = &key
		}
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
	return Datum{Text: "–"}
}

func figureDatum(f cells.Figure, s metric.Scale) Datum {
	f, ok := sound(f)
	switch {
	case !ok:
		return Datum{Text: "–"}
	case f.N < 2:
		return Datum{Text: s.Format(f.Value)}
	}
	return Datum{Text: s.Format(f.Value), Detail: s.Interval(f.Low, f.High)}
}

// levels are the distinct levels of a factor, rising; words keep the order in
// which they came, at equal distances.
type levels struct {
	all     []view.Coordinate
	numbers bool
	more    int // that the bound left out
}

func newLevels(all []view.Coordinate, most int) levels {
	l := levels{numbers: true}
	for _, c := range all {
		if slices.ContainsFunc(l.all, func(known view.Coordinate) bool { return known.Text == c.Text }) {
			continue
		}
		// Words have no value; two levels at one place would hide one another.
		l.numbers = l.numbers && finite(c.Value) && c.Value >= 0 &&
			!slices.ContainsFunc(l.all, func(known view.Coordinate) bool { return known.Value == c.Value })
		l.all = append(l.all, c)
	}
	if l.numbers {
		slices.SortStableFunc(l.all, func(a, b view.Coordinate) int {
			switch {
			case a.Value < b.Value:
				return -1
			case a.Value > b.Value:
				return 1
			}
			return strings.Compare(a.Text, b.Text)
		})
	}
	if l.more = len(l.all) - most; l.more > 0 {
		l.all = l.all[:most]
	}
	return l
}

func (l levels) place(c view.Coordinate) (float64, bool) {
	i := slices.IndexFunc(l.all, func(known view.Coordinate) bool { return known.Text == c.Text })
	switch {
	case i < 0:
		return 0, false
	case l.numbers:
		return l.all[i].Value, true
	}
	return float64(i + 1), true
}

func (l levels) ticks() []Tick {
	ticks := make([]Tick, 0, len(l.all))
	for _, c := range l.all {
		at, _ := l.place(c)
		ticks = append(ticks, Tick{at, c.Text})
	}
	return ticks
}

// positive lists the places that a log axis can take; none when the levels
// are words.
func (l levels) positive() []float64 {
	var places []float64
	for _, c := range l.all {
		if l.numbers && c.Value > 0 {
			places = append(places, c.Value)
		}
	}
	return places
}
