package report

import (
	"cmp"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/read/view"
)

// layout is what the builders of the page's parts share.
type layout struct {
	finding.Findings
	plan     cells.Plan
	keys     []Key
	place    map[string]int // arm → index in keys
	primary  map[string]bool
	compared map[comparisonKey]compare.Comparison // with the baseline
	places   []place
}

// Key gives an arm the same colour and shape in every figure: its place in
// Page.Arms, the baseline always at 0.
type Key struct {
	Name     string `json:"name"`
	Label    string `json:"label"` // what the page calls it; no other arm has the same
	Baseline bool   `json:"baseline,omitempty"`
}

type comparisonKey struct{ cell, arm, metric string }

func newLayout(f finding.Findings) *layout {
	l := &layout{
		Findings: f,
		plan:     f.Plan(),
		place:    map[string]int{},
		primary:  map[string]bool{},
		compared: map[comparisonKey]compare.Comparison{},
	}
	l.places = l.placesOf()
	l.addKey(l.plan.Compare.Baseline, true)
	for _, c := range f.Cells {
		for _, a := range c.Arms {
			l.addKey(a.Name, a.Baseline)
		}
	}
	for _, m := range l.plan.Compare.Primary {
		l.primary[m] = true
	}
	for _, c := range f.Comparisons {
		if c.Base == l.plan.Compare.Baseline { // the others have tables of their own
			l.compared[comparisonKey{c.Cell, c.Arm, c.Metric}] = c
		}
	}
	return l
}

func (l *layout) addKey(arm string, baseline bool) {
	if _, known := l.place[arm]; known || arm == "" {
		return
	}
	label := l.plan.Names.Arm(arm)
	if slices.ContainsFunc(l.keys, func(k Key) bool { return k.Label == label || k.Name == label }) {
		label = part.Joined(", ", label, arm)
	}
	l.place[arm] = len(l.keys)
	l.keys = append(l.keys, Key{arm, label, baseline})
}

// baseline is the name of the arm that the others are divided by.
func (l *layout) baseline() string { return cmp.Or(l.plan.Compare.Baseline, "the baseline") }

// armDatum names an arm of a cell.
func (l *layout) armDatum(a cells.Arm) part.Datum {
	d := l.named(a.Name)
	if a.Baseline && len(l.keys) > 1 {
		d.Text += " (baseline)"
	}
	return d
}

// named is an arm's label with its colour, and its name where that differs; a name that
// no arm has is a text.
func (l *layout) named(arm string) part.Datum {
	d := part.Word(l.called(arm))
	if place, ok := l.place[arm]; ok {
		d.Arm = &place
	}
	if d.Text != arm {
		d.Detail = arm
	}
	return d
}

// called is an arm's label, or the text itself where no arm has that name.
func (l *layout) called(arm string) string {
	if place, ok := l.place[arm]; ok {
		return l.keys[place].Label
	}
	return arm
}

// cell is what a cell is called; "" for the only one.
func (l *layout) cell(name string) string { return l.plan.Names.Cell(name) }

// metricsOf lists what any arm of the cell has, in the registry's order.
func metricsOf(c cells.Cell) []string {
	var metrics []string
	for _, a := range c.Arms {
		for i, m := range a.Metrics {
			if slices.Contains(metrics, m.Metric) {
				continue
			}
			// An arm that lacks some metrics must not push the others' to the end.
			place := len(metrics)
			if i > 0 {
				if before := slices.Index(metrics, a.Metrics[i-1].Metric); before >= 0 {
					place = before + 1
				}
			}
			metrics = slices.Insert(metrics, place, m.Metric)
		}
	}
	return metrics
}

// scaleOf decides a metric's unit for one cell by its largest figure.
func scaleOf(c cells.Cell, name string) metric.Scale {
	largest := 0.0
	for _, a := range c.Arms {
		if s, ok := a.Summary(name); ok {
			largest = max(largest, s.Value)
		}
	}
	return part.ScaleFor(name, largest)
}

// parts are what the analyses found, with what only the page knows: the colours of arms,
// the places of cells, the trials behind the marks of charts.
func (l *layout) parts() []part.Part {
	var all []part.Part
	for _, a := range l.Analyses() {
		p := a.Part()
		if charts, drawn := a.(view.Charts); drawn {
			p.Sections = l.charts(charts)
		}
		for i := range p.Sections {
			l.colour(&p.Sections[i])
		}
		if len(p.Sections) > 0 {
			all = append(all, p)
		}
	}
	if lead := l.lead(); lead != "" {
		slices.SortStableFunc(all, func(a, b part.Part) int { return order(b.ID == lead) - order(a.ID == lead) })
	}
	return all
}

func order(first bool) int {
	if first {
		return 1
	}
	return 0
}

// lead is the part whose drawings show the answer where no picture of arms does.
func (l *layout) lead() string {
	if len(l.Costs) > 0 {
		return "costs"
	}
	return l.plan.Kind.Lead
}

// longTable is from how many rows on a table of a part is closed until it is asked for.
const longTable = 30

// colour completes a section's tables and its drawing.
func (l *layout) colour(s *part.Section) {
	for n, t := range s.Tables {
		if len(t.Rows) > longTable && t.Caption != "" && !t.Folded {
			s.Tables[n].Folded, s.Tables[n].Terminal = true, &t
		}
		for i, c := range t.Columns {
			for _, row := range t.Rows {
				if c.Kind == part.Arms && row[i].Arm == nil {
					own := l.named(row[i].Text)
					row[i].Text, row[i].Arm, row[i].Detail = own.Text, own.Arm, cmp.Or(row[i].Detail, own.Detail)
				}
			}
		}
	}
	if s.Figure == nil {
		return
	}
	s.Figure.ID, s.Figure.Title = s.ID, s.Title
	if s.Figure.Panels != nil {
		for _, chart := range s.Figure.Panels.Charts {
			for i, line := range chart.Lines {
				if place, ok := l.place[line.Of]; ok {
					chart.Lines[i].Arm = place
				}
			}
		}
	}
}
