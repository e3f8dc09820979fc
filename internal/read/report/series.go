package report

import (
	"fmt"

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

// What is drawn stays bounded however large the study: a page that opens in
// a second shows no less than one that does not.
const (
	maxLinesPerCell = 200
	maxLines        = 1200
	maxLinePoints   = 120
)

// lineBudget returns how many series a cell may draw.
func lineBudget(cells int) int {
	return max(4, min(maxLinesPerCell, maxLines/max(cells, 1)))
}

// series draws the rate of one cell's trials; nil when no trial has a series.
func (l *layout) series(c cells.Cell, budget int) (part.Heading, *Series) {
	s := &Series{}
	perArm := max(1, budget/max(1, len(c.Arms)))
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
