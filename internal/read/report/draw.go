package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/hist"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
)

func (l *layout) dots(c cells.Cell, metric string) (Figure, bool) {
	s := scaleOf(c, metric)
	d := &Dots{Metric: metric, Axis: labelOf(metric) + " (" + s.Unit + ")", Scale: s}
	drawn, cut := false, false
	for _, a := range c.Arms {
		row := DotRow{Arm: l.place[a.Name], Name: a.Name, Dots: []Dot{}}
		if m, ok := summaryOf(a, metric); ok && finite(m.Value) && finite(m.Low) && finite(m.High) {
			row.Value, row.Low, row.High = brief(m.Value), brief(m.Low), brief(m.High)
			row.Label = label(figureOf(a, m, s))
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
		"The bar is the mean over blocks, the line its 95 % interval. The axis starts at zero."
	if cut {
		caption += fmt.Sprintf(" The first %d trials of each arm are drawn.", maxDots)
	}
	return Figure{Title: upperFirst(labelOf(metric)) + " by trial", Caption: caption, Dots: d}, drawn
}

// label is a figure with its interval on one line.
func label(d Datum) string {
	if d.Detail == "" {
		return d.Text
	}
	return d.Text + " (" + d.Detail + ")"
}

func unlessValid(status string) string {
	if status == "valid" {
		return ""
	}
	return status
}

// curve draws response times where there are any: a closed loop has none, and
// is labelled as what it is.
func (l *layout) curve(c cells.Cell) (Figure, bool) {
	open := slices.ContainsFunc(c.Arms, func(a cells.Arm) bool { return len(a.Response) > 0 })
	what, of := "service time", func(a cells.Arm) []hist.Point { return a.Service }
	note := "Service time, actual send to completion: a closed loop has no response time."
	if open {
		what, of = "response time", func(a cells.Arm) []hist.Point { return a.Response }
		note = "Response time, intended start to completion, so that a late start counts."
	}
	curve := &Curve{Axis: what}
	for _, a := range c.Arms {
		line := CurveLine{Arm: l.place[a.Name], Name: a.Name, Points: [][2]float64{}, Marks: []CurveMark{}}
		for _, p := range of(a) {
			if p.Ns > 0 && p.Share >= 0 && p.Share < 1 && len(line.Points) < maxCurvePoints {
				line.Points = append(line.Points, [2]float64{p.Share, float64(p.Ns)})
				line.mark(c, a, p, what)
			}
		}
		if len(line.Points) > 1 {
			curve.Lines = append(curve.Lines, line)
		}
	}
	return Figure{
		Title: upperFirst(what) + " by percentile",
		Caption: note + " Each point is the mean over blocks, as in the tables; a line ends where a trial has fewer than 10 samples beyond. " +
			"Both axes are logarithmic; to the right each step is a tenth of the tail.",
		Curve: curve,
	}, len(curve.Lines) > 0
}

// marked are the shares of a curve that carry a mark, with how a metric's name
// ends there; none of the last two.
var marked = []struct {
	share  float64
	metric string
}{{0.5, "_p50_us"}, {0.9, "_p90_us"}, {0.99, "_p99_us"}, {0.999, "_p999_us"}, {0.9999, ""}, {0.99999, ""}}

// mark adds a mark to a point that has one: the table's own text where the table
// has this percentile.
func (line *CurveLine) mark(c cells.Cell, a cells.Arm, p hist.Point, what string) {
	for _, m := range marked {
		if m.share != p.Share {
			continue
		}
		one := CurveMark{Share: p.Share, Ns: float64(p.Ns)}
		us := one.Ns / 1000
		s := scaleFor("_us", us)
		one.Text = s.Format(us) + " " + s.Unit
		metric := strings.TrimSuffix(what, " time") + m.metric
		if summary, ok := summaryOf(a, metric); ok {
			s = scaleOf(c, metric)
			one.Metric, one.Text = metric, figureText(a, summary, s)+" "+s.Unit
		}
		line.Marks = append(line.Marks, one)
	}
}

func (l *layout) series(c cells.Cell, budget int) (Figure, bool) {
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
	s.Scale = scaleFor("exchanges_per_s", largest)
	s.Axis = "exchanges (" + s.Scale.Unit + "), seconds since the start"
	caption := "Exchanges per second over the trial, clients summed, one line per trial; the window is shaded. The axis starts at zero."
	if cut {
		caption += fmt.Sprintf(" The first %s of each arm are drawn.", plural(perArm, "trial"))
	}
	return Figure{Title: "Rate over time", Caption: caption, Wide: true, Series: s}, drawn
}

// seriesLine thins one trial's series and widens the figure's window and
// largest value to hold it.
func seriesLine(slices []trial.Slice, s *Series, largest *float64) [][2]float64 {
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

func (l *layout) split(c cells.Cell) (Figure, bool) {
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
func (p *SplitPanel) add(of trial.CPUSplit) bool {
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
