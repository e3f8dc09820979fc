package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// Chart is one chart that the study asked for: a figure, and the table that
// says the same in print.
type Chart struct {
	Figure Figure   `json:"figure"` // without anything to draw when Notes say why
	What   string   `json:"what"`   // metric, unit, factors and held levels
	Table  Table    `json:"table"`
	Notes  []string `json:"notes,omitempty"`
}

// Drawn tells whether the chart has a figure.
func (c Chart) Drawn() bool {
	return c.Figure.Lines != nil || c.Figure.Heat != nil || c.Figure.Front != nil
}

// A chart of more than this could not be read; findings.json has every point.
const (
	maxChartLines  = 24
	maxChartPoints = 64
	maxTiles       = 40 // along each axis
	maxMarks       = 300
)

// logSpan is how far values must lie apart for a logarithmic axis.
const logSpan = 30

func (l *layout) charts() []Chart {
	charts := make([]Chart, 0, len(l.Findings.Charts))
	seen := map[record.ChartKind]bool{}
	for i, c := range l.Findings.Charts {
		v := newChartView(l, c)
		var chart Chart
		switch c.Spec.Kind {
		case record.Lines:
			chart = v.lines()
		case record.Heat:
			chart = v.heat()
		case record.Front:
			chart = v.front()
		}
		chart.Figure.ID = fmt.Sprintf("chart-%d", i+1)
		chart.Figure.Title = or(c.Spec.Title, v.title())
		chart.Figure.Caption = v.caption(chart.Figure, !seen[c.Spec.Kind])
		chart.Figure.Wide = c.Spec.Kind == record.Front || chart.Figure.Heat != nil && len(chart.Figure.Heat.Columns) > 6
		chart.Notes = v.notes()
		if where := v.where(); where != "" {
			chart.What += ", " + where
		}
		chart.Table.Caption, chart.Table.Folded = "In numbers: "+chart.What+", with 95 % intervals.", true
		seen[c.Spec.Kind] = seen[c.Spec.Kind] || chart.Drawn()
		charts = append(charts, chart)
	}
	return charts
}

// chartView is one chart on its way to a figure and a table.
type chartView struct {
	*layout
	view.Chart
	scale metric.Scale
	cut   []string // what exceeded a bound
}

func newChartView(l *layout, c view.Chart) *chartView {
	v := &chartView{layout: l, Chart: c}
	largest := 0.0
	for _, f := range figuresIn(c) {
		largest = max(largest, f.Value)
	}
	v.scale = scaleFor(c.Spec.Metric, largest)
	return v
}

// notes are the findings' own, and what this page left out.
func (v *chartView) notes() []string {
	var notes []string
	mean := ""
	if slices.ContainsFunc(figuresIn(v.Chart), func(f cells.Figure) bool { return f.Mean == cells.Arithmetic && f.Value != 0 }) {
		mean = "where a figure is 0, the mean over blocks is arithmetic, elsewhere geometric"
	}
	for _, note := range slices.Concat([]string{v.Knee, mean}, v.Chart.Notes, v.cut) {
		if note != "" {
			notes = append(notes, upperFirst(strings.TrimSuffix(note, "."))+".")
		}
	}
	return notes
}

func (v *chartView) title() string {
	switch v.Spec.Kind {
	case record.Lines:
		return upperFirst(labelOf(v.Spec.Metric)) + " by " + v.Spec.X
	case record.Heat:
		return upperFirst(labelOf(v.Spec.Metric)) + " by " + v.Spec.X + " and " + v.Spec.Y
	}
	return upperFirst(labelOf(v.Spec.Metric)) + " against " + labelOf(v.Spec.Against)
}

// caption says how to read a form of chart once, and of each which trials it
// shows.
func (v *chartView) caption(f Figure, first bool) string {
	var parts []string
	switch {
	case first && f.Lines != nil:
		parts = append(parts, "Each point is the mean over blocks with its 95 % interval; points of one level stand beside each other where they would hide one another.")
	case first && f.Heat != nil:
		parts = append(parts, "Each box is the mean over blocks; its interval shows under the pointer and in the table.")
	case first && f.Front != nil:
		parts = append(parts, "Each point is the mean over blocks with its 95 % intervals. The steps join the points that no other beats in both metrics; pale points are beaten. Both axes are logarithmic.")
	}
	if f.Lines != nil && f.Lines.X.Log {
		parts = append(parts, "The horizontal axis is logarithmic"+zeroWords(f.Lines.X)+".")
	}
	if f.Lines != nil && !f.Lines.Y.Log {
		parts = append(parts, "The vertical axis starts at zero.")
	}
	if where := v.where(); where != "" {
		parts = append(parts, "Only trials "+where+".")
	}
	return strings.Join(parts, " ")
}

func zeroWords(a Axis) string {
	if len(a.Ticks) > 0 && a.Ticks[0].At == 0 {
		return ", with zero before the gap"
	}
	return ""
}

// where says which trials are in the chart, nothing when all are.
func (v *chartView) where() string {
	const fewArms = 4 // more would be a list that nobody reads; the table names them
	var parts []string
	if levels := levelsText(v.Spec.Where); levels != "" {
		parts = append(parts, "at "+levels)
	}
	if arms := v.Spec.Arms; len(arms) > fewArms {
		parts = append(parts, "of "+plural(len(arms), "arm"))
	} else if len(arms) > 0 {
		parts = append(parts, "of "+strings.Join(arms, ", "))
	}
	return strings.Join(parts, " ")
}

func levelsText(levels map[string]string) string {
	var parts []string
	for _, name := range sortedKeys(levels) {
		parts = append(parts, name+"="+levels[name])
	}
	return strings.Join(parts, ", ")
}

// key is the place of a name's colour and shape: the arm's own, or for the
// levels of another factor their order, the baseline's grey left out.
func (v *chartView) key(name string, order int) int {
	if place, ok := v.place[name]; ok && (v.Spec.By == "" || v.Spec.By == v.Header.Study.Compare.Factor) {
		return place
	}
	return order + 1
}

// axisTitle names a metric with the unit that it is shown in.
func axisTitle(metric string, s metric.Scale) string {
	if s.Unit == "" {
		return labelOf(metric)
	}
	return labelOf(metric) + " (" + s.Unit + ")"
}

// directed adds which way is better.
func directed(title, metric string) string {
	if better := directionOf(metric); better != "" {
		return title + ", " + better + " is better"
	}
	return title
}

func directionOf(name string) string { return metric.Shown(name).Better }

// printed is a value with its unit, interval and number of blocks.
func printed(f cells.Figure, s metric.Scale) string {
	text := strings.TrimSpace(s.Format(f.Value) + " " + s.Unit)
	if f.N > 1 {
		text += " (" + s.Interval(f.Low, f.High) + ")"
	}
	return text + ", " + plural(f.N, "block")
}

// sound makes a figure drawable: its interval holds its value. False for what
// no axis can take.
func sound(f cells.Figure) (cells.Figure, bool) {
	if !finite(f.Value) || f.Value < 0 {
		return f, false
	}
	if !finite(f.Low) || f.Low > f.Value || f.Low < 0 {
		f.Low = f.Value
	}
	if !finite(f.High) || f.High < f.Value {
		f.High = f.Value
	}
	return f, true
}

// spans tells whether values lie so far apart, and all above zero, that a
// logarithmic scale shows them better.
func spans(values []float64, by float64) bool {
	least, most := 0.0, 0.0
	for i, value := range values {
		if i == 0 || value < least {
			least = value
		}
		most = max(most, value)
	}
	return least > 0 && most > by*least
}
