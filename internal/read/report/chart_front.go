package report

import (
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/view"
)

// Front shows what each arm in each cell reaches against what that costs.
type Front struct {
	X      Axis         `json:"x"`     // the cost
	Y      Axis         `json:"y"`     // what it buys
	LowX   bool         `json:"low_x"` // less of X is better
	Points []FrontPoint `json:"points"`
}

// FrontPoint is one arm, or level, in one cell; Label names it where there is
// room, Text is what the pointer shows.
type FrontPoint struct {
	Arm   int     `json:"arm"`
	Name  string  `json:"name"`
	Label string  `json:"label"`
	Text  string  `json:"text"`
	X     float64 `json:"x"`
	XLow  float64 `json:"x_low"`
	XHigh float64 `json:"x_high"`
	Y     float64 `json:"y"`
	YLow  float64 `json:"y_low"`
	YHigh float64 `json:"y_high"`
	On    bool    `json:"on,omitempty"`
	Knee  bool    `json:"knee,omitempty"`
	Behind
}

// maxMarks bounds the points of a front; findings.json has every one.
const maxMarks = 300

// front draws the chart; nil when there is nothing to draw. What names it in its
// table.
func (v *chartView) front() (drawn *Front, table Table, what string) {
	marks := v.ranked()
	cost := scaleFor(v.Spec.Against, largestCost(marks))
	drawn = &Front{
		X: Axis{Title: directed(axisTitle(v.Spec.Against, cost), v.Spec.Against), Scale: cost, Log: true},
		Y: Axis{Title: directed(axisTitle(v.Spec.Metric, v.scale), v.Spec.Metric), Scale: v.scale, Log: true},
		// A cost that nobody declared better when higher is a cost.
		LowX: directionOf(v.Spec.Against) != metric.Higher,
	}
	table = Table{Columns: []Column{
		{Title: or(v.Spec.By, "arm"), Kind: Arms}, {Title: "cell"},
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
		table.Rows = append(table.Rows, []Datum{
			{Text: or(m.Name, "all"), Arm: &key}, word(or(m.Cell, "all")),
			figureDatum(m.Metric, v.scale), figureDatum(m.Against, cost), {Text: paretoWords(m), Strong: m.Knee},
		})
		if p, ok := v.point(m, key, cost); ok {
			p.Label = markLabel(m, len(names), len(cells))
			drawn.Points = append(drawn.Points, p)
		}
	}
	what = axisTitle(v.Spec.Metric, v.scale) + " against " + axisTitle(v.Spec.Against, cost) + ", the Pareto front first"
	if len(drawn.Points) == 0 {
		return nil, table, what
	}
	return drawn, table, what
}

// point places a mark on the axes; false where they cannot take it.
func (v *chartView) point(m view.Mark, key int, cost metric.Scale) (FrontPoint, bool) {
	y, x := m.Metric, m.Against
	return FrontPoint{
		Arm: key, Name: m.Name, On: m.Front, Knee: m.Knee,
		X: brief(x.Value), XLow: brief(x.Low), XHigh: brief(x.High),
		Y: brief(y.Value), YLow: brief(y.Low), YHigh: brief(y.High),
		Behind: v.behind(v.withBy(map[string]string{}, m.Name), func(p place) bool { return p.name == m.Cell }),
		Text:   fmt.Sprintf("%s%s: %s; %s", m.Name, cells.InCell(m.Cell), printed(y, v.scale), printed(x, cost)),
	}, drawable(y.Value, y.Low, y.High, x.Value, x.Low, x.High)
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
		return or(m.Name, m.Cell)
	case m.Name == "" || names < 2:
		return m.Cell
	}
	return m.Name + ", " + m.Cell
}
