package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// manyColumns is from how many columns on a heat map takes the page's width.
const manyColumns = 7

// chartRows bounds the table of a chart on a terminal: that of a Pareto front is as long
// as the study is large.
const chartRows = 16

// charts has a section for each chart that the study asked for: the drawing, and the table
// that says the same in print.
func (l *layout) charts(all view.Charts) []part.Section {
	sections := make([]part.Section, 0, len(all))
	seen := map[record.ChartKind]bool{}
	for i, c := range all {
		v := newChartView(l, c)
		var f part.Figure
		var table part.Table
		var what string
		switch c.Spec.Kind {
		case record.Lines:
			f.Lines, table, what = v.lines()
		case record.Heat:
			f.Heat, table, what = v.heat()
		case record.Front:
			f.Front, table, what = v.front()
		}
		f.Caption = v.caption(f, !seen[c.Spec.Kind])
		f.Wide = c.Spec.Kind == record.Front || f.Heat != nil && len(f.Heat.Columns) >= manyColumns
		s := part.Section{ID: fmt.Sprintf("chart-%d", i+1), Title: cmp.Or(c.Spec.Title, v.title()), Notes: v.notes(), OnScreen: i >= printedCharts}
		if f.Drawn() {
			s.Figure, seen[c.Spec.Kind] = &f, true
		}
		s.Tables = []part.Table{v.inNumbers(table, what)}
		sections = append(sections, s)
	}
	return sections
}

// inNumbers completes a chart's table: what it shows, and on a terminal only as much of it
// as one reads, without intervals.
func (v *chartView) inNumbers(t part.Table, what string) part.Table {
	what = part.Joined(", ", what, v.where())
	short := t.Plain()
	short.Caption = what
	if more := len(short.Rows) - chartRows; more > 0 {
		short.Rows, short.Notes = short.Rows[:chartRows], []string{"and " + quantity.Plural(more, "more row")}
	}
	t.Caption, t.Folded, t.Terminal = "In numbers: "+what+", with 95 % intervals.", true, &short
	return t
}

// notes are the findings' own, and what this page left out.
func (v *chartView) notes() []string {
	var notes []string
	mean := ""
	if slices.ContainsFunc(figuresIn(v.Chart), func(f cells.Figure) bool { return f.Mean == cells.Arithmetic && f.Value != 0 }) {
		mean = "where a figure is 0, the mean over blocks is arithmetic, elsewhere geometric"
	}
	for _, note := range slices.Concat([]string{mean}, v.Chart.Notes, v.cut) {
		if note != "" {
			notes = append(notes, part.Sentence(note))
		}
	}
	return notes
}

// caption says how to read a form of chart once, and of each which trials it
// shows.
func (v *chartView) caption(f part.Figure, first bool) string {
	var parts []string
	switch {
	case first && f.Lines != nil:
		parts = append(parts, "Each point is the mean over blocks with its 95 % interval. Points of one level stand beside each other where they would hide one another.")
	case first && f.Heat != nil:
		parts = append(parts, "Each box is the mean over blocks. Its interval shows under the pointer and in the table.")
	case first && f.Front != nil:
		parts = append(parts, "Each point is the mean over blocks with its 95 % intervals. The steps are the Pareto front: no other point is as good or better in both metrics. Pale points are dominated: another point is as good or better in both. Both axes are logarithmic.")
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

func zeroWords(a part.Axis) string {
	if len(a.Ticks) > 0 && a.Ticks[0].At == 0 {
		return ", with zero before the gap"
	}
	return ""
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
	v.scale = part.ScaleFor(c.Spec.Metric, largest)
	return v
}

func (v *chartView) title() string {
	switch v.Spec.Kind {
	case record.Lines:
		return part.Capital(part.Label(v.Spec.Metric)) + " by " + v.Spec.X
	case record.Heat:
		return part.Capital(part.Label(v.Spec.Metric)) + " by " + v.Spec.X + " and " + v.Spec.Y
	}
	return part.Capital(part.Label(v.Spec.Metric)) + " against " + part.Label(v.Spec.Against)
}

// where says which trials are in the chart, nothing when all are.
func (v *chartView) where() string {
	const fewArms = 4 // more would be a list that nobody reads; the table names them
	var parts []string
	if levels := part.Levels(v.Spec.Where); levels != "" {
		parts = append(parts, "at "+levels)
	}
	if arms := v.Spec.Arms; len(arms) > fewArms {
		parts = append(parts, "of "+quantity.Plural(len(arms), "arm"))
	} else if len(arms) > 0 {
		called := make([]string, len(arms))
		for i, arm := range arms {
			called[i] = v.called(arm)
		}
		parts = append(parts, "of "+strings.Join(called, ", "))
	}
	return strings.Join(parts, " ")
}

// key is the place of a name's colour and shape: the arm's own, or for the
// levels of another factor their order, the baseline's grey left out.
func (v *chartView) key(name string, order int) int {
	if place, ok := v.place[name]; ok && (v.Spec.By == "" || v.Spec.By == v.plan.Compare.Factor) {
		return place
	}
	return order + 1
}

// printed is a value with its unit, interval and number of blocks.
func printed(f cells.Figure, s metric.Scale) string {
	if !f.Known() {
		return cells.Unknown + part.Bracketed(cells.WhyUnknown(f.N, f.Of))
	}
	text := strings.TrimSpace(s.Format(f.Value) + " " + s.Unit)
	return text + part.Bracketed(intervalWords(f, s)) + ", " + quantity.Plural(f.N, "block")
}

// intervalWords are a figure's interval; "" of few blocks, and of windows at one rate,
// which have none.
func intervalWords(f cells.Figure, s metric.Scale) string {
	if !f.Sure() || f.Low == f.High {
		return ""
	}
	return s.Interval(f.Low, f.High)
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

func (v *chartView) values() []float64 {
	var values []float64
	for _, f := range figuresIn(v.Chart) {
		values = append(values, f.Value)
	}
	return values
}

func (v *chartView) noteCut(l levels, factor string) {
	if l.more > 0 {
		v.cut = append(v.cut, fmt.Sprintf("%s more of %s are in findings.json", quantity.Plural(l.more, "level"), factor))
	}
}

// figureDatum is a figure of a chart as a value of its table.
func figureDatum(f cells.Figure, s metric.Scale) part.Datum {
	f, ok := sound(f)
	if !ok {
		return part.Missing()
	}
	if !f.Known() {
		return part.Unknown(f.N, f.Of)
	}
	return part.Value(s.Format(f.Value), intervalWords(f, s))
}
