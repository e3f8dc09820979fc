package report

import (
	"fmt"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

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
		parts = append(parts, "of "+strings.Join(arms, ", "))
	}
	return strings.Join(parts, " ")
}

// key is the place of a name's colour and shape: the arm's own, or for the
// levels of another factor their order, the baseline's grey left out.
func (v *chartView) key(name string, order int) int {
	if place, ok := v.place[name]; ok && (v.Spec.By == "" || v.Spec.By == v.Header.Study.Compare.Factor) {
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
