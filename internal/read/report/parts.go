package report

import (
	"cmp"
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/view"
)

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
	switch {
	case len(l.Costs) > 0:
		return "costs"
	case l.Mesh != nil || l.Capacity != nil:
		return "charts"
	}
	return ""
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
	if s.Figure.Waterfall == nil {
		return
	}
	for i, g := range s.Figure.Waterfall.Groups {
		s.Figure.Waterfall.Groups[i].Cell = 1 + slices.IndexFunc(l.Cells, func(c cells.Cell) bool { return c.Name == g.Name })
		for j, b := range g.Bars {
			g.Bars[j].Arm = l.place[b.Of]
		}
	}
}
