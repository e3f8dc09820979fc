package report

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/view"
)

// A picture of more than these could not be read at one glance; the tables have all.
const (
	picturePanels = 3
	pictureBars   = 12 // rows of bars in all cells; of more each cell is one row of marks
	pictureCells  = 20
)

// Picture shows the answer in absolute figures: a panel for each primary metric, and in
// every panel the same rows.
type Picture struct {
	Panels []PicturePanel `json:"panels"`
	Groups []PictureGroup `json:"groups"`          // cells
	Marks  bool           `json:"marks,omitempty"` // a row for each group, the arms as marks in it; else a bar for each arm
}

// PicturePanel is one metric.
type PicturePanel struct {
	Title  string    `json:"title"`          // "server CPU"
	Better string    `json:"better"`         // "higher", "lower" or ""
	Note   string    `json:"note,omitempty"` // what every arm's note would be
	Axis   part.Axis `json:"axis"`           // titled by the unit
}

// PictureGroup is a cell; without a name where there is but one.
type PictureGroup struct {
	Cell int          `json:"cell,omitempty"` // number of the cell, from 1; 0 for several
	Name string       `json:"name"`
	Rows []PictureRow `json:"rows"` // the best on the first metric first
}

// PictureRow is an arm, or the only arm in one of its cells.
type PictureRow struct {
	Arm     int             `json:"arm"`
	Name    string          `json:"name"`
	Figures []PictureFigure `json:"figures"` // by panel
	part.Behind
}

// PictureFigure is a mean with its interval; Label is empty where there is none.
type PictureFigure struct {
	Label string  `json:"label"`          // "9.61"; "?" for one that is not shown
	Hint  string  `json:"hint,omitempty"` // "9.61 (9.50–9.72) µs/exchange"
	Note  string  `json:"note,omitempty"` // where it stands beside the best: "best"
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// picture draws the primary metrics; nil where nothing has them, and where a part's own
// drawings show the answer.
func (l *layout) picture() *Figure {
	if l.lead() != "" {
		return nil
	}
	var metrics []string
	for _, name := range l.plan.Compare.Primary {
		if len(metrics) < picturePanels && slices.ContainsFunc(l.Cells, func(c cells.Cell) bool { return slices.Contains(metricsOf(c), name) }) {
			metrics = append(metrics, name)
		}
	}
	if len(metrics) == 0 {
		return nil
	}
	if panels := l.overFactor(metrics); panels != nil {
		h := part.Heading{ID: "picture", Title: pictureTitle, Caption: meanCaption + ".", Wide: true}
		return &Figure{Figure: part.Figure{Heading: h, Panels: panels}}
	}
	p := &Picture{}
	scales := make([]metric.Scale, len(metrics))
	for i, name := range metrics {
		scales[i] = part.ScaleFor(name, l.largest(name))
	}
	rows := 0
	for i, c := range l.Cells {
		g := PictureGroup{Cell: i + 1, Name: l.cell(c.Name)}
		for _, a := range c.Arms {
			g.Rows = append(g.Rows, l.pictureRow(i, c.Name, a, metrics, scales))
		}
		l.bestFirst(g.Rows, metrics[0])
		p.Groups, rows = append(p.Groups, g), rows+len(g.Rows)
	}
	if len(l.keys) == 1 && len(l.Cells) > 1 {
		p.Groups = []PictureGroup{byCell(p.Groups)}
	}
	p.Marks = rows > pictureBars && len(p.Groups) > 1
	for i, name := range metrics {
		axis := part.Axis{Title: scales[i].Unit, Scale: scales[i], Log: p.Marks && spans(p.values(i), logSpan)}
		p.Panels = append(p.Panels, PicturePanel{part.Capital(part.Label(name)), directionOf(name), p.oneNote(i), axis})
	}
	h := part.Heading{ID: "picture", Title: pictureTitle, Caption: p.bound() + p.caption(), Wide: true}
	return &Figure{Figure: part.Figure{Heading: h}, Picture: p}
}

// byCell makes the groups of an only arm one, whose rows are its cells in their order.
func byCell(groups []PictureGroup) PictureGroup {
	var all PictureGroup
	for _, g := range groups {
		for _, r := range g.Rows {
			r.Name = g.Name
			all.Rows = append(all.Rows, r)
		}
	}
	return all
}

// bound leaves out what is too much for a picture, and says so.
func (p *Picture) bound() string {
	switch {
	case p.Marks && len(p.Groups) > pictureCells:
		more := len(p.Groups) - pictureCells
		p.Groups = p.Groups[:pictureCells]
		return quantity.Plural(more, "more cell") + " below. "
	case !p.Marks && len(p.Groups) == 1 && len(p.Groups[0].Rows) > pictureBars:
		more := len(p.Groups[0].Rows) - pictureBars
		p.Groups[0].Rows = p.Groups[0].Rows[:pictureBars]
		return fmt.Sprintf("%d more in the tables below. ", more)
	}
	return ""
}

// oneNote is the note that all figures of a panel have, which they then lose; "" where they
// differ.
func (p *Picture) oneNote(panel int) string {
	var all []*PictureFigure
	for _, g := range p.Groups {
		for i := range g.Rows {
			all = append(all, &g.Rows[i].Figures[panel])
		}
	}
	note := all[0].Note
	if len(all) < 2 || slices.ContainsFunc(all, func(f *PictureFigure) bool { return f.Note != note }) {
		return ""
	}
	for _, f := range all {
		f.Note = ""
	}
	if note == standings[best.Open] {
		return "not told apart"
	}
	return note
}

func (p *Picture) values(panel int) []float64 {
	var values []float64
	for _, g := range p.Groups {
		for _, r := range g.Rows {
			if f := r.Figures[panel]; f.Hint != "" {
				values = append(values, f.Low, f.Value, f.High)
			}
		}
	}
	return values
}

// largest is a metric's largest figure in any cell.
func (l *layout) largest(name string) float64 {
	largest := 0.0
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			if s, ok := a.Summary(name); ok && s.Known() {
				largest = max(largest, s.Value)
			}
		}
	}
	return largest
}

func (l *layout) pictureRow(cell int, name string, a cells.Arm, metrics []string, scales []metric.Scale) PictureRow {
	r := PictureRow{Arm: l.place[a.Name], Name: l.called(a.Name), Behind: part.Behind{Cell: cell + 1, Arms: []string{a.Name}}}
	for i, m := range metrics {
		r.Figures = append(r.Figures, pictureFigure(a, m, scales[i], l.standing(name, a.Name, m)))
	}
	return r
}

func pictureFigure(a cells.Arm, name string, s metric.Scale, note string) PictureFigure {
	m, ok := a.Summary(name)
	switch {
	case !ok:
		return PictureFigure{}
	case !m.Known() || !part.Finite(m.Value) || m.Value < 0:
		return PictureFigure{Label: cells.Unknown}
	}
	f := PictureFigure{
		Label: figureText(m, s), Note: note, Hint: part.Joined(" ", figureOf(m, s).Figure.Full(), s.Unit),
		Value: part.Brief(m.Value), Low: part.Brief(m.Value), High: part.Brief(m.Value),
	}
	if m.Sure() && !m.AtLeast && part.Finite(m.Low) && part.Finite(m.High) {
		f.Low, f.High = part.Brief(max(m.Low, 0)), part.Brief(m.High)
	}
	return f
}

// standing is where an arm stands beside the best of its cell, as the answer's tables mark it;
// nothing of the best, of one that another is shown to beat, and where that is not judged.
func (l *layout) standing(cell, arm, name string) string {
	if l.Best == nil {
		return ""
	}
	for _, s := range l.Best.Sets {
		if s.Cell != cell || s.Metric != name {
			continue
		}
		for i, a := range s.Arms {
			if a.Name == arm && (i > 0 || a.Standing != best.Level) {
				return standings[a.Standing]
			}
		}
	}
	return ""
}

// standings are the marks of the answer's tables; the best has none.
var standings = map[best.Standing]string{best.Level: "≈", best.Open: "?", best.Unknown: "not compared"}

// bestFirst sorts rows by their first figure; those without one come last.
func (l *layout) bestFirst(rows []PictureRow, name string) {
	way := 1
	switch directionOf(name) {
	case "":
		return
	case metric.Higher:
		way = -1
	}
	slices.SortStableFunc(rows, func(a, b PictureRow) int {
		if known, other := a.Figures[0].Hint != "", b.Figures[0].Hint != ""; known != other {
			if known {
				return -1
			}
			return 1
		}
		return way * cmp.Compare(a.Figures[0].Value, b.Figures[0].Value)
	})
}

const (
	pictureTitle = "The answer in figures"
	meanCaption  = "Mean over blocks with its 95" + part.NoBreak + "% interval"
)

// caption says how to read it, in one line.
func (p *Picture) caption() string {
	caption := meanCaption
	if slices.ContainsFunc(p.Panels, func(panel PicturePanel) bool { return panel.Axis.Log }) {
		caption += ", on logarithmic axes where figures lie far apart"
	}
	return caption + "."
}

// overFactor draws metrics over the only factor that varies besides the compared one; nil
// where none does, where its levels are few or no numbers, and of many arms.
func (l *layout) overFactor(metrics []string) *part.Panels {
	const leastLevels, mostLines = 3, 8
	factor := ""
	var all []view.Coordinate
	for _, c := range l.Cells {
		for name, level := range c.Levels {
			x, numeric := view.NumberOf(level)
			if factor = cmp.Or(factor, name); len(c.Levels) > 1 || name != factor || !numeric {
				return nil
			}
			all = append(all, view.Coordinate{Text: level, Value: x})
		}
	}
	if len(all) < leastLevels || len(all) != len(l.Cells) || len(l.keys) > mostLines {
		return nil
	}
	axis := newLevels(all, maxChartPoints)
	panels := &part.Panels{}
	for _, name := range metrics {
		scale := part.ScaleFor(name, l.largest(name))
		chart := part.Lines{
			X: part.Axis{Title: factor, Scale: metric.Scale{Factor: 1}, Log: spans(axis.positive(), logSpan), Ticks: axis.ticks()},
			Y: part.Axis{Title: directed(part.Capital(part.AxisTitle(name, scale)), name), Scale: scale},
		}
		var values []float64
		for arm, key := range l.keys {
			line := part.Line{Colour: part.Colour{Arm: arm}, Name: key.Name, Points: []part.LinePoint{}}
			for i, c := range l.Cells {
				if p, ok := l.pointOf(i, c, key.Name, name, scale); ok {
					p.X, _ = axis.place(all[i])
					line.Points = append(line.Points, p)
					values = append(values, p.Low, p.High)
				}
			}
			slices.SortFunc(line.Points, func(a, b part.LinePoint) int { return cmp.Compare(a.X, b.X) })
			if len(line.Points) > 0 {
				chart.Lines = append(chart.Lines, line)
			}
		}
		chart.Y.Log = spans(values, logSpan)
		if len(chart.Lines) > 0 {
			panels.Charts = append(panels.Charts, chart)
		}
	}
	if len(panels.Charts) == 0 {
		return nil
	}
	return panels
}

// pointOf is an arm's figure in a cell as a point of a line; false where there is none.
func (l *layout) pointOf(cell int, c cells.Cell, arm, name string, s metric.Scale) (part.LinePoint, bool) {
	i := slices.IndexFunc(c.Arms, func(a cells.Arm) bool { return a.Name == arm })
	if i < 0 {
		return part.LinePoint{}, false
	}
	f := pictureFigure(c.Arms[i], name, s, l.standing(c.Name, arm, name))
	return part.LinePoint{
		Value: f.Value, Low: f.Low, High: f.High, Text: part.Joined(", ", l.cell(c.Name)+": "+f.Hint, f.Note),
		Behind: part.Behind{Cell: cell + 1, Arms: []string{arm}},
	}, f.Hint != ""
}
