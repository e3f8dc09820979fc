package report

import (
	"fmt"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// Figure is one drawing of the page: one that an analysis has, or one of figures of
// cells. At most one of the pointers is set.
type Figure struct {
	part.Figure
	Picture *Picture `json:"picture,omitempty"`
	Forest  *Forest  `json:"forest,omitempty"`
	Dots    *Dots    `json:"dots,omitempty"`
	Curve   *Curve   `json:"curve,omitempty"`
	Series  *Series  `json:"series,omitempty"`
	Split   *Split   `json:"split,omitempty"`
	Flame   *Flame   `json:"flame,omitempty"`
}

// OnScreen tells whether a figure is of single trials or probes: paper has no room for
// it.
func (f Figure) OnScreen() bool {
	return f.Series != nil || f.Split != nil || f.Flame != nil
}

// longFigure is from how many rows on a figure is closed until it is asked for.
const longFigure = 24

// Long tells whether a figure is longer than a screen.
func (f Figure) Long() bool {
	rows := 0
	if f.Forest != nil {
		for _, g := range f.Forest.Groups {
			rows += len(g.Rows)
		}
	}
	return rows > longFigure
}

// effects makes one forest per primary metric over all cells.
func (l *layout) effects() []Figure {
	var figures []Figure
	for i, name := range l.plan.Compare.Primary {
		heading, forest := l.forest(name)
		if forest == nil {
			continue
		}
		if len(figures) > 0 {
			heading.Caption = "Read as the figure above."
		}
		heading.ID = fmt.Sprintf("effect-%d", i+1)
		figures = append(figures, Figure{Figure: part.Figure{Heading: heading}, Forest: forest})
	}
	return figures
}

// cellFigures makes the figures of one cell; one without anything to draw is
// left out.
func (l *layout) cellFigures(cell int, c cells.Cell) []Figure {
	var figures []Figure
	add := func(h part.Heading, f Figure) {
		h.ID, h.Cell = fmt.Sprintf("cell-%d-%d", cell+1, len(figures)+1), cell+1
		f.Heading = h
		figures = append(figures, f)
	}
	for _, name := range l.plan.Compare.Primary {
		if h, dots := l.dots(c, name); dots != nil {
			add(h, Figure{Dots: dots})
		}
	}
	if h, curve := l.curve(c); curve != nil {
		h.Wide = len(figures)%2 == 0 // beside the last dots, or alone
		add(h, Figure{Curve: curve})
	}
	if h, series := l.series(c); series != nil {
		add(h, Figure{Series: series})
	}
	if h, split := l.split(c); split != nil {
		add(h, Figure{Split: split})
	}
	if h, flame := l.flame(c.Name); flame != nil {
		add(h, Figure{Flame: flame})
	}
	return figures
}
