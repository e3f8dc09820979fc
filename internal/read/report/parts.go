package report

import (
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
	return all
}

// colour completes a section's tables and its drawing.
func (l *layout) colour(s *part.Section) {
	for _, t := range s.Tables {
		for i, c := range t.Columns {
			for _, row := range t.Rows {
				if c.Kind == part.Arms && row[i].Arm == nil {
					row[i].Arm = l.named(row[i].Text).Arm
				}
			}
		}
	}
	if s.Figure == nil {
		return
	}
	s.Figure.ID, s.Figure.Title = s.ID, s.Title
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
