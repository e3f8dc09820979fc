package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/follow"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// LivePart is a part of the page of a run that goes on. A page replaces each part by
// itself, when what it shows has changed.
type LivePart struct {
	ID    string
	Title string
	// Shows names what the part shows of a run: as long as it is the same, so is the part.
	Shows  func(follow.Snapshot) string
	view   func(follow.Snapshot) any
	onward bool // says something only while the run goes on
}

// LiveParts are the parts in the order of the page, each with a template of its name.
func LiveParts() []LivePart {
	return []LivePart{
		{"progress", "", func(s follow.Snapshot) string { return fmt.Sprint(s.Progress, leftText(s), s.Problems) }, progressView, false},
		{"now", "Now", func(s follow.Snapshot) string { return fmt.Sprint(nowView(s)) }, nowView, true},
		{"found", "So far", func(s follow.Snapshot) string { return fmt.Sprint(s.FoundOf, s.State) }, foundView, true},
		{"trials", "Latest trials", func(s follow.Snapshot) string { return fmt.Sprint(len(s.Records), s.FoundOf) }, trialsView, false},
	}
}

// liveProgress is how far a run is, in words.
type liveProgress struct {
	follow.Progress
	Left     string
	Problems int
	GoOn     string // the command that goes on with an incomplete run
}

func progressView(s follow.Snapshot) any {
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

// liveTrial is the trial under way.
type liveTrial struct {
	Name, Arm, Cell string
	Rate            string // "" before two ticks
	P50, P99        string // of a trial that tells its times as it goes
	Points          string // of the line of rates
	Most            string // the line's top
	Latest, Height  int
}

// The drawing of the rates, in its own units.
const (
	sparkStep   = 4
	sparkHeight = 48
)

func nowView(s follow.Snapshot) any {
	if s.Now == nil {
		return liveTrial{}
	}
	t := s.Now.Trial
	v := liveTrial{Name: spoken(t), Arm: t.Arm, Cell: cells.CellLabel(s.Header.Study, t.Cell), Height: sparkHeight}
	if s.Now.Rate > 0 {
		v.Rate = rateText(s.Now.Rate)
	}
	if times := s.Now.Times; times != nil {
		if times.P50Ns > 0 {
			v.P50 = quantity.FormatDuration(time.Duration(times.P50Ns))
		}
		if times.P99Ns > 0 {
			v.P99 = quantity.FormatDuration(time.Duration(times.P99Ns))
		}
	}
	if len(s.Now.Rates) < 2 {
		return v
	}
	most := slices.Max(s.Now.Rates)
	if most <= 0 {
		return v
	}
	v.Most = rateText(most)
	var points []string
	for i, rate := range s.Now.Rates {
		points = append(points, fmt.Sprintf("%d,%.1f", i*sparkStep, sparkHeight*(1-rate/most)))
	}
	v.Points, v.Latest = strings.Join(points, " "), (len(points)-1)*sparkStep
	return v
}

func rateText(perSecond float64) string {
	return part.WithUnit(perSecond, part.ScaleFor(metric.ExchangesPerS, perSecond))
}

// liveFound is what a run has found so far.
type liveFound struct {
	Ended        bool
	Of           int // records
	Table, Noise part.Table
}

// liveMetrics are shown of every run beside its primary metrics, where it has them.
var liveMetrics = []string{metric.ExchangesPerS, metric.ResponseP99, metric.ServiceP99, metric.OfServer + metric.CPUPerExchange}

func foundView(s follow.Snapshot) any {
	ended := s.State != follow.Running
	if s.Found == nil {
		return liveFound{Ended: ended}
	}
	l := newLayout(*s.Found)
	return liveFound{Ended: ended, Of: s.FoundOf, Table: l.soFar(), Noise: l.noiseSoFar()}
}

// noiseSoFar is how far the baseline differs from itself, on the primary metrics.
func (l *layout) noiseSoFar() part.Table {
	t := part.Table{
		Caption: "Noise: the baseline's second trial in each block ÷ its first. Nothing differs there.",
		Columns: slices.Concat(part.Titles("metric"), part.Figures("second ÷ first")),
	}
	for _, n := range l.Noise {
		if l.primary[n.Metric] {
			t.Rows = append(t.Rows, []part.Datum{{Text: part.Label(n.Metric), Detail: l.cell(n.Cell)}, {Ratio: noiseRatio(n)}})
		}
	}
	return part.Bounded(t)
}

// soFar is every arm's figures, each with its ratio to the baseline, and no verdict:
// those are for the looks that the study declared.
func (l *layout) soFar() part.Table {
	var names []string
	for _, name := range append(slices.Clone(l.Header.Study.Compare.Primary), liveMetrics...) {
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
		d.Detail = r.Text + " (" + part.Joined(", ", r.Interval, overShared(c, scale)) + ")"
	}
	return d
}

// latestTrials are the trials that the page of a run shows.
const latestTrials = 12

// trialMetrics are those of a single trial.
var trialMetrics = []string{metric.ExchangesPerS, metric.ResponseP99, metric.ServiceP99, metric.OfServer + metric.CPUPerExchange, metric.HostSteal}

func trialsView(s follow.Snapshot) any {
	records := s.Records[max(0, len(s.Records)-latestTrials):]
	t := part.Table{Caption: "Trials that have ended, the latest first. A trial is judged once its arms are compared.", Columns: part.Titles("arm", "outcome")}
	values := make([][]part.Datum, len(records))
	var shown []string
	for _, name := range trialMetrics {
		if m, err := metric.Named(name); err == nil && addValues(values, records, m) {
			shown = append(shown, name)
		}
	}
	for _, name := range shown {
		t.Columns = append(t.Columns, part.Column{Title: part.Label(name), Kind: part.Numbers, Metric: name})
	}
	judged := judgedTrials(s)
	for i := len(records) - 1; i >= 0; i-- {
		r := &records[i]
		place := part.Datum{Text: r.Trial.Arm, Detail: part.Joined(", ", cellOf(s.Header.Study, r.Trial), spoken(r.Trial))}
		t.Rows = append(t.Rows, append([]part.Datum{place, outcomeOf(r, judged)}, values[i]...))
	}
	return t
}

// cellOf is a trial's cell in words; of one for several rates without these.
func cellOf(study record.Study, t record.Trial) string {
	if t.FlatOut || t.Unloaded {
		return cells.CellLabelWithout(study, t.Cell, record.Rate)
	}
	return cells.CellLabel(study, t.Cell)
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

// addValues adds a metric's value to each trial's row; false when none has it.
func addValues(rows [][]part.Datum, records []record.Record, m metric.Metric) bool {
	found := false
	row := make([]part.Datum, len(records))
	for i := range records {
		row[i] = part.Missing()
		if v, ok := m.Value(&records[i]); ok && records[i].Outcome == record.OK {
			row[i], found = part.InUnit(v, m.Scale(v)), true
		}
	}
	for i := range rows {
		if found {
			rows[i] = append(rows[i], row[i])
		}
	}
	return found
}

// judgedTrials are the trials that were judged so far, by their names.
func judgedTrials(s follow.Snapshot) map[string]*trial.Trial {
	judged := map[string]*trial.Trial{}
	if s.Found == nil {
		return judged
	}
	for _, cell := range s.Found.Cells {
		for _, arm := range cell.Arms {
			for t := range arm.All() {
				judged[t.ID] = t
			}
		}
	}
	return judged
}

// outcomeOf is what became of a trial, as far as it is known yet.
func outcomeOf(r *record.Record, judged map[string]*trial.Trial) part.Datum {
	if r.Failure != nil {
		return part.Datum{Text: string(r.Outcome), Strong: true, Detail: quantity.Clip(string(r.Failure.Kind)+": "+r.Failure.Text, 200)}
	}
	t, known := judged[r.Trial.ID]
	if !known && r.Outcome == record.OK {
		return part.Word("measured")
	}
	if !known {
		return part.Word(string(r.Outcome))
	}
	return part.Datum{Text: t.Status, Strong: t.Status != trial.Valid, Detail: strings.Join(t.Flags, ", ")}
}
