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
			figureDatum(m.Metric, v.scale), figureDatum(m.Against, cost), {Text: paretoWords(m), Strong: m.Knee},
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
		Colour: part.Colour{Arm: key}, Name: m.Name, On: m.Front, Knee: m.Knee,
		X: part.Brief(x.Value), XLow: part.Brief(x.Low), XHigh: part.Brief(x.High),
		Y: part.Brief(y.Value), YLow: part.Brief(y.Low), YHigh: part.Brief(y.High),
		Behind: v.behind(v.withBy(map[string]string{}, m.Name), func(p place) bool { return p.name == m.Cell }),
		Text:   fmt.Sprintf("%s%s: %s; %s", m.Name, cells.InCell(m.Cell), printed(y, v.scale), printed(x, cost)),
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
	switch {
	case m.Knee:
		return "knee"
	case m.Front:
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
