package report

import (
	"slices"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/follow"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// liveProgress is how far a run is, in words.
type liveProgress struct {
	follow.Progress
	Left     string
	Problems int
	GoOn     string // the command that goes on with an incomplete run
}

func progressView(s follow.Snapshot) liveProgress {
	v := liveProgress{Progress: s.Progress, Left: leftText(s), Problems: s.Problems}
	if s.State == follow.Incomplete {
		v.GoOn = shellLine([]string{"netdyno", "run", s.Path, "--continue"})
	}
	return v
}

// leftText is the time that the rest of a run takes; "" when it is not known. Where the next
// look may end the run it says from when, as the run's own screen does.
func leftText(s follow.Snapshot) string {
	text := func(d time.Duration) string {
		if d < time.Minute {
			return d.Round(time.Second).String()
		}
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	}
	switch near := s.Left - s.Left/10; {
	case s.Left <= 0:
		return ""
	case s.LeftLeast < near:
		return text(s.LeftLeast) + " to " + text(s.Left)
	}
	return text(s.Left)
}

// liveTrial is the trial under way; none without a name.
type liveTrial struct {
	Name, Arm, Cell string
	Rate            string // "" before two looks
	P50, P99        string // of a trial that tells its times as it goes
}

func nowView(s follow.Snapshot) liveTrial {
	if s.Now == nil {
		return liveTrial{}
	}
	t := s.Now.Trial
	v := liveTrial{Name: spoken(t), Arm: t.Arm, Cell: cells.PlanOf(s.Header).Names.Cell(t.Cell)}
	if s.Now.Rate > 0 {
		v.Rate = part.WithUnit(s.Now.Rate, part.ScaleFor(metric.ExchangesPerS, s.Now.Rate))
	}
	if times := s.Now.Times; times != nil {
		if times.P50Ns > 0 {
			v.P50 = quantity.FormatDuration(time.Duration(times.P50Ns))
		}
		if times.P99Ns > 0 {
			v.P99 = quantity.FormatDuration(time.Duration(times.P99Ns))
		}
	}
	return v
}

// liveFound is what a run has found so far.
type liveFound struct {
	Of    int // records
	Table part.Table
}

// liveMetrics are shown of every run beside its primary metrics, where it has them.
var liveMetrics = []string{metric.ExchangesPerS, metric.ResponseP99, metric.ServiceP99, metric.OfServer + metric.CPUPerExchange}

func foundView(s follow.Snapshot) liveFound {
	if s.Found == nil {
		return liveFound{}
	}
	return liveFound{s.FoundOf, newLayout(*s.Found).soFar()}
}

// soFar is every arm's figures, each with its ratio to the baseline, and no verdict:
// those are for the looks that the study declared.
func (l *layout) soFar() part.Table {
	var names []string
	for _, name := range append(slices.Clone(l.plan.Compare.Primary), liveMetrics...) {
		has := slices.ContainsFunc(l.Cells, func(c cells.Cell) bool { return slices.Contains(metricsOf(c), name) })
		if has && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	t := part.Table{
		Caption: "Figures so far with their 95 % intervals, and below them the ratio to " + l.baseline() + ". They are no verdicts: a run is judged at its looks.",
		Columns: part.Titles("arm"),
	}
	for _, name := range names {
		t.Columns = append(t.Columns, part.Column{Title: part.Label(name), Kind: part.Numbers, Metric: name})
	}
	for _, cell := range l.Cells {
		for _, arm := range cell.Arms {
			row := []part.Datum{{Text: l.called(arm.Name), Detail: l.cell(cell.Name)}}
			for _, name := range names {
				row = append(row, l.soFarOf(cell, arm, name))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return part.Bounded(t)
}

// soFarOf is one figure of an arm with its ratio to the baseline.
func (l *layout) soFarOf(cell cells.Cell, arm cells.Arm, name string) part.Datum {
	scale := scaleOf(cell, name)
	d := armFigure(arm, name, scale)
	if d.Figure != nil {
		d.Figure.Unit = scale.Unit
	}
	c, compared := l.compared[comparisonKey{cell.Name, arm.Name, name}]
	if r := part.RatioOf(c); compared && r != nil && !c.Verdict.Refused() && !withheld(c) && c.Low < c.High {
		d.Detail = r.Text + " (" + part.Joined(", ", r.Interval, overShared(c)) + ")"
	}
	return d
}

// spoken is a trial by its ID. A probe is no trial of a block, whatever its number.
func spoken(t record.Trial) string {
	if t.Probe {
		return "probe " + t.ID + " for profiles"
	}
	if t.Unloaded {
		return "trial " + t.ID + " without load"
	}
	if t.FlatOut {
		return "trial " + t.ID + " flat out"
	}
	return "trial " + t.ID
}
