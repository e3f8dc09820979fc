package report

import (
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// Series shows the rate over time, a panel per arm, a line per trial.
type Series struct {
	Axis   string        `json:"axis"`
	Scale  metric.Scale  `json:"scale"`
	Window [2]float64    `json:"window"` // seconds since the trial's start
	Panels []SeriesPanel `json:"panels"`
}

// SeriesPanel is one arm's lines: pairs of seconds and rate.
type SeriesPanel struct {
	Arm    int            `json:"arm"`
	Name   string         `json:"name"`
	Lines  [][][2]float64 `json:"lines"`
	Trials []string       `json:"trials"` // by line
}

const maxLinePoints = 120

// series draws the rate of one cell's trials; nil when no trial has a series.
func (l *layout) series(c cells.Cell) (part.Heading, *Series) {
	s := &Series{}
	perArm := trial.SeriesDrawn(len(l.Cells), len(c.Arms))
	largest, cut, drawn := 0.0, false, false
	for _, a := range c.Arms {
		panel := SeriesPanel{Arm: l.place[a.Name], Name: a.Name, Lines: [][][2]float64{}, Trials: []string{}}
		for _, t := range a.Trials {
			if len(t.Series) < 2 || t.Status == trial.StatusFailed || t.Status == trial.StatusUnsupported {
				continue
			}
			if len(panel.Lines) == perArm {
				cut = true
				break
			}
			panel.Lines, panel.Trials = append(panel.Lines, seriesLine(t.Series, s, &largest)), append(panel.Trials, t.ID)
			drawn = true
		}
		s.Panels = append(s.Panels, panel)
	}
	s.scaled(largest)
	caption := "Exchanges per second over the trial, clients summed, one line per trial; the window is shaded. The axis starts at zero."
	if cut {
		caption += fmt.Sprintf(" The first %s of each arm are drawn.", quantity.Plural(perArm, "trial"))
	}
	if !drawn {
		return part.Heading{}, nil
	}
	return part.Heading{Title: "Rate over time", Caption: caption, Wide: true}, s
}

// scaled chooses the unit by the largest rate.
func (s *Series) scaled(largest float64) {
	s.Scale = part.ScaleFor(metric.ExchangesPerS, largest)
	s.Axis = "exchanges (" + s.Scale.Unit + "), seconds since the start"
}

// seriesLine thins one trial's series and widens the figure's window and
// largest value to hold it.
func seriesLine(slices []trial.Slice, s *Series, largest *float64) [][2]float64 {
	line := [][2]float64{}
	for _, slice := range thin(slices, maxLinePoints) {
		if !part.Finite(slice.AtS) || !part.Finite(slice.ExchangesPerS) {
			continue
		}
		line = append(line, [2]float64{part.Brief(slice.AtS), part.Brief(slice.ExchangesPerS)})
		*largest = max(*largest, slice.ExchangesPerS)
		if slice.InWindow {
			if s.Window[1] == 0 || slice.AtS < s.Window[0] {
				s.Window[0] = part.Brief(slice.AtS)
			}
			s.Window[1] = max(s.Window[1], part.Brief(slice.AtS))
		}
	}
	return line
}

// thin keeps no more than most elements, evenly spread, the last one included.
func thin[T any](all []T, most int) []T {
	if len(all) <= most {
		return all
	}
	kept := make([]T, 0, most)
	for i := range most {
		kept = append(kept, all[i*(len(all)-1)/(most-1)])
	}
	return kept
}

// Split shows where CPU time went, a panel per arm, a thin bar per trial.
type Split struct {
	Axis   string       `json:"axis"`
	Parts  []string     `json:"parts"` // from the bottom of a bar upwards
	Panels []SplitPanel `json:"panels"`
}

// SplitPanel is one arm's bars.
type SplitPanel struct {
	Arm    int          `json:"arm"`
	Name   string       `json:"name"`
	Groups []SplitGroup `json:"groups"`
}

// SplitGroup is one process or host: cores by trial and part.
type SplitGroup struct {
	Of     string      `json:"of"`
	Bars   [][]float64 `json:"bars"`
	Trials []string    `json:"trials"` // by bar
}

// maxBars bounds the trials of an arm that are drawn.
const maxBars = 16

// The parts of CPU time from the bottom of a bar upwards: work first, then
// what escapes every process, then what nobody used.
var parts = []string{"user", "system", "softirq", "irq", "steal", "idle"}

// split draws the CPU time of one cell's trials; nil when none has it.
func (l *layout) split(c cells.Cell) (part.Heading, *Split) {
	split := &Split{Axis: "CPU (cores)", Parts: parts}
	drawn, cut := false, false
	for _, a := range c.Arms {
		panel := SplitPanel{Arm: l.place[a.Name], Name: a.Name, Groups: []SplitGroup{}}
		for _, t := range a.Trials {
			for _, of := range t.CPU {
				full := panel.addSplit(of, t.ID)
				cut, drawn = cut || full, true
			}
		}
		split.Panels = append(split.Panels, panel)
	}
	caption := "CPU time in the window as cores, one thin bar per trial: above for each worker, below for the whole host on its own scale. " +
		"Interrupt work (irq, softirq) belongs to no process and shows only under the host."
	if cut {
		caption += fmt.Sprintf(" The first %d trials of each arm are drawn.", maxBars)
	}
	if !drawn {
		return part.Heading{}, nil
	}
	return part.Heading{Title: "Where CPU time went", Caption: caption, Wide: true}, split
}

// addSplit appends a trial's bar to its group, and says when the group is full.
func (p *SplitPanel) addSplit(of trial.CPUSplit, id string) bool {
	i := slices.IndexFunc(p.Groups, func(g SplitGroup) bool { return g.Of == of.Of })
	if i < 0 {
		i = len(p.Groups)
		p.Groups = append(p.Groups, SplitGroup{Of: of.Of})
	}
	group := &p.Groups[i]
	if len(group.Bars) == maxBars {
		return true
	}
	bar := make([]float64, len(parts))
	for j, name := range parts {
		if v := of.Cores.Of(name); part.Finite(v) && v > 0 {
			bar[j] = part.Brief(v)
		}
	}
	group.Bars, group.Trials = append(group.Bars, bar), append(group.Trials, id)
	return false
}
