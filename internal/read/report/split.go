package report

import (
	"fmt"
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

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
		if v := of.Cores[name]; part.Finite(v) && v > 0 {
			bar[j] = part.Brief(v)
		}
	}
	group.Bars, group.Trials = append(group.Bars, bar), append(group.Trials, id)
	return false
}
