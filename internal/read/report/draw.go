package report

import (
	"fmt"
	"slices"

	"netdyno/internal/hist"
	"netdyno/internal/read/finding"
)

func (l *layout) dots(c finding.Cell, metric string) (Figure, bool) {
	s := scaleOf(c, metric)
	d := &Dots{Axis: labelOf(metric) + " (" + s.Unit + ")", Scale: s}
	drawn, cut := false, false
	for _, a := range c.Arms {
		row := DotRow{Arm: l.place[a.Name], Name: a.Name, Dots: []Dot{}}
		if m, ok := summaryOf(a, metric); ok && drawable(m.Value, m.Low, m.High) {
			row.Median, row.Low, row.High = brief(m.Value), brief(m.Low), brief(m.High)
		}
		for _, t := range a.Trials {
			v, ok := t.Values[metric]
			if !ok || !finite(v) || v < 0 {
				continue
			}
			if len(row.Dots) == maxDots {
				cut = true
				break
			}
			row.Dots = append(row.Dots, Dot{Block: t.Block, Value: brief(v), Repeat: t.Repeat, Status: unlessValid(t.Status)})
		}
		drawn = drawn || len(row.Dots) > 0
		d.Rows = append(d.Rows, row)
	}
	caption := "One dot per trial, blocks from top to bottom; hollow dots are the baseline's repeat, crosses trials that are not valid. " +
		"The line is the 95 % interval, its tick the median. The axis starts at zero."
	if cut {
		caption += fmt.Sprintf(" The first %d trials of each arm are drawn.", maxDots)
	}
	return Figure{Title: upperFirst(labelOf(metric)) + " by trial", Caption: caption, Dots: d}, drawn
}

func unlessValid(status string) string {
	if status == "valid" {
		return ""
	}
	return status
}

// curve draws response times where there are any: a closed loop has none, and
// is labelled as what it is.
func (l *layout) curve(c finding.Cell) (Figure, bool) {
	open := slices.ContainsFunc(c.Arms, func(a finding.Arm) bool { return len(a.Response) > 0 })
	what, of := "service time", func(a finding.Arm) []hist.Point { return a.Service }
	note := "Service time, actual send to completion: a closed loop has no response time."
	if open {
		what, of = "response time", func(a finding.Arm) []hist.Point { return a.Response }
		note = "Response time, intended start to completion, so that a late start counts."
	}
	curve := &Curve{Axis: what}
	for _, a := range c.Arms {
		line := CurveLine{Arm: l.place[a.Name], Name: a.Name, Points: [][2]float64{}}
		for _, p := range thin(of(a), maxCurvePoints) {
			if p.Ns > 0 && p.Share >= 0 && p.Share < 1 {
				line.Points = append(line.Points, [2]float64{p.Share, float64(p.Ns)})
			}
		}
		if len(line.Points) > 1 {
			curve.Lines = append(curve.Lines, line)
		}
	}
	return Figure{
		Title: upperFirst(what) + " by percentile",
		Caption: note + " Each line is the arm's median trial by p50 and ends where fewer than 10 samples lie beyond. " +
			"Both axes are logarithmic; to the right each step is a tenth of the tail.",
		Curve: curve,
	}, len(curve.Lines) > 0
}

func (l *layout) series(c finding.Cell, budget int) (Figure, bool) {
	s := &Series{}
	perArm := max(1, budget/max(1, len(c.Arms)))
	largest, cut, drawn := 0.0, false, false
	for _, a := range c.Arms {
		panel := SeriesPanel{Arm: l.place[a.Name], Name: a.Name, Lines: [][][2]float64{}}
		for _, t := range a.Trials {
			if len(t.Series) < 2 || t.Status == "failed" || t.Status == "unsupported" {
				continue
			}
			if len(panel.Lines) == perArm {
				cut = true
				break
			}
			panel.Lines = append(panel.Lines, seriesLine(t.Series, s, &largest))
			drawn = true
		}
		s.Panels = append(s.Panels, panel)
	}
	s.Scale = scaleFor("exchanges_per_s", "", largest)
	s.Axis = "exchanges (" + s.Scale.Unit + "), seconds since the start"
	caption := "Exchanges per second over the trial, clients summed, one line per trial; the window is shaded. The axis starts at zero."
	if cut {
		caption += fmt.Sprintf(" The first %s of each arm are drawn.", plural(perArm, "trial"))
	}
	return Figure{Title: "Rate over time", Caption: caption, Wide: true, Series: s}, drawn
}

// seriesLine thins one trial's series and widens the figure's window and
// largest value to hold it.
func seriesLine(slices []finding.Slice, s *Series, largest *float64) [][2]float64 {
	line := [][2]float64{}
	for _, slice := range thin(slices, maxLinePoints) {
		if !finite(slice.AtS) || !finite(slice.ExchangesPerS) {
			continue
		}
		line = append(line, [2]float64{brief(slice.AtS), brief(slice.ExchangesPerS)})
		*largest = max(*largest, slice.ExchangesPerS)
		if slice.InWindow {
			if s.Window[1] == 0 || slice.AtS < s.Window[0] {
				s.Window[0] = brief(slice.AtS)
			}
			s.Window[1] = max(s.Window[1], brief(slice.AtS))
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

// The parts of CPU time from the bottom of a bar upwards: work first, then
// what escapes every process, then what nobody used.
var parts = []string{"user", "system", "softirq", "irq", "steal", "idle"}

func (l *layout) split(c finding.Cell) (Figure, bool) {
	split := &Split{Axis: "CPU (cores)", Parts: parts}
	drawn, cut := false, false
	for _, a := range c.Arms {
		panel := SplitPanel{Arm: l.place[a.Name], Name: a.Name, Groups: []SplitGroup{}}
		for _, t := range a.Trials {
			for _, of := range t.CPU {
				full := panel.add(of)
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
	return Figure{Title: "Where CPU time went", Caption: caption, Wide: true, Split: split}, drawn
}

// add appends a trial's bar to its group, and says when the group is full.
func (p *SplitPanel) add(of finding.CPUSplit) bool {
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
	for j, part := range parts {
		if v := of.Cores[part]; finite(v) && v > 0 {
			bar[j] = brief(v)
		}
	}
	group.Bars = append(group.Bars, bar)
	return false
}
