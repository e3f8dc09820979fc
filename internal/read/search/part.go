package search

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// Part lays out what was found of each arm, and draws every window of a search for rates.
func (f *Search) Part() part.Part {
	p := part.Part{ID: "search", Title: "Search"}
	switch {
	case f == nil:
		return p
	case f.Choice != nil:
		p.Title = "Which settings"
		p.Sections = []part.Section{{ID: "search-found", Title: "The race", Sentences: f.raceWords(), Tables: []part.Table{f.table(false)}}}
		return p
	}
	p.Title = "Capacity"
	p.Sections = []part.Section{{
		ID: "search-found", Title: "The highest rate that meets the objective", Tables: []part.Table{f.table(false)}, Figure: f.drawn(),
		Sentences: []string{fmt.Sprintf("The highest rate at which half of the windows meet %s and keep up with the schedule. Response times count from when an exchange was due. "+
			"The interval has 95%s%% confidence, and its lower end allows for windows being finite.", objectiveWords(f.Objective), part.NoBreak)},
	}}
	return p
}

// table has a row for each arm. The short one has of a race those that are left, and of
// rates no column beside what is carried.
func (f *Search) table(short bool) part.Table {
	title, trials, outcome := "carries", "windows", "limited by"
	if f.Choice != nil {
		title, trials, outcome = part.Label(f.Metric), "blocks", "outcome"
	}
	several := slices.ContainsFunc(f.Arms, func(a Arm) bool { return a.Cell != "" })
	t := part.Table{Columns: part.OfKind(part.Arms, "arm")}
	if several {
		t.Columns = append(t.Columns, part.Titles("cell")...)
	}
	t.Columns = append(t.Columns, part.Figures(title)...)
	beside := len(f.Arms) > 1
	if beside {
		t.Columns = append(t.Columns, part.Figures("÷ "+f.names.Within(cmp.Or(f.Baseline, "baseline")))...)
	}
	if f.Choice == nil && !short {
		t.Columns = append(t.Columns, part.Figures("flat out")...)
	}
	t.Columns = append(append(t.Columns, part.Figures(trials)...), part.Titles(outcome)...)
	scale := part.ScaleFor(f.Metric, f.largest())
	for _, a := range f.Arms {
		if c := f.Choice; short && c != nil && a.Fate != Stayed && a.Arm != c.Winner && a.Arm != f.Baseline {
			continue
		}
		row := []part.Datum{part.Word(a.Arm)}
		if several {
			row = append(row, part.Word(a.Cell))
		}
		if row = append(row, a.figure(scale)); beside {
			row = append(row, a.ratio())
		}
		if f.Choice == nil && !short {
			flatOut := part.Missing()
			if a.ClosedS > 0 {
				flatOut = part.InUnit(a.ClosedS, scale)
			}
			row = append(row, flatOut)
		}
		t.Rows = append(t.Rows, append(row, part.Count(a.Trials), part.Word(f.outcome(a))))
		if a.Short > 0 {
			t.Notes = append(t.Notes, fmt.Sprintf("%s: windows of %.3g s are short for this objective, and may pass at rates a little too high; a longer time allows for longer ones.", a.Arm, a.Short))
		}
	}
	return t
}

// largest is the largest figure of an arm.
func (f *Search) largest() (most float64) {
	for _, a := range f.Arms {
		if a.Figure != nil {
			most = max(most, a.Figure.Value)
		}
	}
	return most
}

func (a Arm) figure(s metric.Scale) part.Datum {
	switch {
	case a.Figure == nil:
		return part.Missing()
	case a.Figure.AtLeast:
		return part.Datum{Figure: &part.Number{Text: "≥ " + s.Format(a.Figure.Value), Unit: s.Unit}}
	}
	return part.AmountOf(*a.Figure, s)
}

func (a Arm) ratio() part.Datum {
	if a.Ratio == nil {
		return part.Missing()
	}
	return part.Amount(a.Ratio.Value, a.Ratio.Low, a.Ratio.High, part.ScaleFor("", a.Ratio.Value))
}

// outcome says what became of an arm: of a rate what limits it.
func (f *Search) outcome(a Arm) string {
	c := f.Choice
	switch {
	case c == nil && a.Figure != nil:
		return a.Limit.Called()
	case c == nil:
		return string(a.Fate)
	case a.Arm == c.Recommended:
		return "recommended"
	case a.Arm == f.Baseline:
		return "baseline"
	case a.Arm == c.Winner:
		return "won the race"
	case a.Fate == Slower:
		return a.Why
	}
	return string(a.Fate)
}

// outcome is what a window says of the objective.
func (t Try) outcome() string {
	switch {
	case t.Untold:
		return "tells nothing"
	case t.Met:
		return "met"
	}
	return "missed"
}

// drawn shows the objective's first metric against the rate, every window a point and the
// bound a line of its own; nil where no window has the metric.
func (f *Search) drawn() *part.Figure {
	bound := f.Objective[0]
	scale := part.ScaleFor(bound.Metric, bound.Value)
	lines := part.Lines{
		X: part.Axis{Title: "rate, 1/s", Scale: metric.Scale{Factor: 1}, Log: true},
		Y: part.Axis{Title: part.Capital(part.AxisTitle(bound.Metric, scale)), Scale: scale, Log: bound.Value > 0},
	}
	var rates []float64
	for i, a := range f.Arms {
		line := part.Line{Colour: part.Colour{Arm: i, Of: a.Arm}, Name: a.Arm + cells.InCell(a.Cell)}
		if a.Cell != "" { // whose lines of an arm differ
			line.Of = ""
		}
		for _, t := range slices.SortedStableFunc(slices.Values(a.Tries), func(x, y Try) int { return cmp.Compare(x.Rate, y.Rate) }) {
			if part.Drawable(t.Value, t.Rate) {
				text := line.Name + ", " + t.ID + ": " + shown(bound.Metric, t.Value) + " at " + rateText(t.Rate) + "/s, " + part.Joined(": ", t.outcome(), t.Why)
				rates, line.Points = append(rates, t.Rate), append(line.Points, pointAt(t.Rate, t.Value, text))
			}
		}
		if len(line.Points) > 0 {
			lines.Lines = append(lines.Lines, line)
		}
	}
	if len(rates) == 0 {
		return nil
	}
	slices.Sort(rates)
	for _, rate := range slices.Compact(slices.Clone(rates)) {
		lines.X.Ticks = append(lines.X.Ticks, part.Tick{At: rate, Text: quantity.FormatCount(rate)})
	}
	if bound.Value > 0 {
		lines.Lines = append(lines.Lines, part.Line{Colour: part.Colour{Arm: len(f.Arms)}, Name: "objective", Points: []part.LinePoint{
			pointAt(rates[0], bound.Value, bound.Text), pointAt(rates[len(rates)-1], bound.Value, bound.Text),
		}})
	}
	return &part.Figure{Heading: part.Heading{ID: "search-figure", Title: bound.Text + " by rate", Caption: "Each point is a window at its rate. The objective is a line of its own."}, Lines: &lines}
}

func pointAt(rate, value float64, text string) part.LinePoint {
	value = part.Brief(value)
	return part.LinePoint{X: rate, Value: value, Low: value, High: value, Text: text}
}
