package report

import (
	"cmp"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// Trials is every trial of a run in short: what the browser lists, and what leads from
// a mark of a figure to the trials behind it.
type Trials struct {
	Metrics []TrialMetric `json:"metrics"` // the primary ones first
	Factors []TrialFactor `json:"factors"` // varied beside the compared one
	Cells   []TrialCell   `json:"cells"`
	All     []TrialLine   `json:"all"`     // by cell and arm, in the order of blocks
	Command string        `json:"command"` // prints one trial when its ID is put behind it
	Beyond  string        `json:"beyond"`  // what of a trial the page does not hold, a sentence; "" for nothing
}

// TrialMetric is a metric whose value each trial of the list has.
type TrialMetric struct {
	Name  string `json:"name"`
	Label string `json:"label"`
}

// TrialFactor is a varied factor with its levels in the study's order.
type TrialFactor struct {
	Name   string   `json:"name"`
	Levels []string `json:"levels"`
}

// TrialCell is one cell with the figures that its tables show of each arm.
type TrialCell struct {
	Title  string            `json:"title"`
	Levels map[string]string `json:"levels"`
	Scales []metric.Scale    `json:"scales"` // by metric
	Arms   []TrialArm        `json:"arms"`
}

// TrialArm has an arm's figures by metric; one without any has an empty label.
type TrialArm struct {
	Arm     int           `json:"arm"`
	Figures []TrialFigure `json:"figures"`
}

// TrialFigure is a figure with its interval, raw and as the tables print it.
type TrialFigure struct {
	Label string  `json:"label"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// TrialLine is one trial. Cell is a place in Cells, Arm one in the page's arms.
type TrialLine struct {
	ID     string     `json:"id"`
	Cell   int        `json:"cell"`
	Arm    int        `json:"arm"`
	Block  int        `json:"block"`
	Repeat bool       `json:"repeat,omitempty"`
	Status string     `json:"status,omitempty"` // empty when valid
	Flags  []string   `json:"flags,omitempty"`
	Limit  string     `json:"limit,omitempty"`
	Values []*float64 `json:"values"` // by metric, raw; null for none
}

// trials lists the trials of all cells.
func (l *layout) trials() Trials {
	list := Trials{
		Metrics: []TrialMetric{}, Factors: l.filters(), Cells: []TrialCell{}, All: []TrialLine{},
		Command: "netdyno report " + l.directory() + " --trial",
	}
	var names []string
	for _, c := range l.Cells {
		for _, name := range l.choose(c, wide) {
			if !slices.Contains(names, name) {
				names = append(names, name)
				list.Metrics = append(list.Metrics, TrialMetric{name, part.Label(name)})
			}
		}
	}
	for i, c := range l.Cells {
		list.Cells = append(list.Cells, l.trialCell(c, names))
		for _, a := range c.Arms {
			list.All = append(list.All, l.trialLines(i, a, names, list.Cells[i].Scales)...)
		}
	}
	return list
}

// filters are the factors by which cells differ.
func (l *layout) filters() []TrialFactor {
	factors := []TrialFactor{}
	for _, f := range l.plan.Vary {
		if f.Name != l.plan.Compare.Factor && len(f.Levels) > 1 {
			factors = append(factors, TrialFactor{f.Name, f.Levels})
		}
	}
	return factors
}

// directory is the run's, as a shell reads it.
func (l *layout) directory() string { return shellWord(cmp.Or(l.Header.Directory, "DIR")) }

func (l *layout) trialCell(c cells.Cell, names []string) TrialCell {
	cell := TrialCell{Title: cmp.Or(l.cell(c.Name), "Results"), Levels: c.Levels, Scales: []metric.Scale{}, Arms: []TrialArm{}}
	for _, name := range names {
		cell.Scales = append(cell.Scales, scaleOf(c, name))
	}
	for _, a := range c.Arms {
		arm := TrialArm{Arm: l.place[a.Name], Figures: make([]TrialFigure, len(names))}
		for i, name := range names {
			if m, ok := a.Summary(name); ok && part.Finite(m.Value) && part.Finite(m.Low) && part.Finite(m.High) {
				label := figureOf(m, cell.Scales[i]).Figure.Full()
				arm.Figures[i] = TrialFigure{label, part.Brief(m.Value), part.Brief(m.Low), part.Brief(m.High)}
			}
		}
		cell.Arms = append(cell.Arms, arm)
	}
	return cell
}

func (l *layout) trialLines(cell int, a cells.Arm, names []string, scales []metric.Scale) []TrialLine {
	lines := make([]TrialLine, 0, len(a.Trials))
	for _, t := range a.Trials {
		line := TrialLine{
			ID: t.ID, Cell: cell, Arm: l.place[a.Name], Block: t.Block, Repeat: t.Repeat, Status: unlessValid(t.Status),
			Flags: t.Flags, Limit: string(t.Limit), Values: make([]*float64, len(names)),
		}
		for i, name := range names {
			if v, ok := t.Values.Of(name); ok && part.Finite(v) {
				shown := faithful(v, scales[i])
				line.Values[i] = &shown
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// faithful is brief where that is printed as the value itself.
func faithful(x float64, s metric.Scale) float64 {
	if short := part.Brief(x); s.Format(short) == s.Format(x) {
		return short
	}
	return x
}
