package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// Chart is one chart that the study asked for: a figure, and the table that
// says the same in print.
type Chart struct {
	Figure Figure   `json:"figure"` // without anything to draw when Notes say why
	What   string   `json:"what"`   // metric, unit, factors and held levels
	Table  Table    `json:"table"`
	Notes  []string `json:"notes,omitempty"`
}

// Drawn reports whether the chart has a figure.
func (c Chart) Drawn() bool {
	return c.Figure.Lines != nil || c.Figure.Heat != nil || c.Figure.Front != nil
}

// manyColumns is from how many columns on a heat map takes the page's width.
const manyColumns = 7

func (l *layout) charts() []Chart {
	charts := make([]Chart, 0, len(l.Findings.Charts))
	seen := map[record.ChartKind]bool{}
	for i, c := range l.Findings.Charts {
		v := newChartView(l, c)
		var chart Chart
		f := &chart.Figure
		switch c.Spec.Kind {
		case record.Lines:
			f.Lines, chart.Table, chart.What = v.lines()
		case record.Heat:
			f.Heat, chart.Table, chart.What = v.heat()
		case record.Front:
			f.Front, chart.Table, chart.What = v.front()
		}
		f.ID = fmt.Sprintf("chart-%d", i+1)
		f.Title = or(c.Spec.Title, v.title())
		f.Caption = v.caption(*f, !seen[c.Spec.Kind])
		f.Wide = c.Spec.Kind == record.Front || f.Heat != nil && len(f.Heat.Columns) >= manyColumns
		chart.Notes = v.notes()
		if where := v.where(); where != "" {
			chart.What += ", " + where
		}
		chart.Table.Caption, chart.Table.Folded = "In numbers: "+chart.What+", with 95 % intervals.", true
		if l.Capacity != nil {
			chart.Table.Caption = "In numbers: " + chart.What + "."
		}
		seen[c.Spec.Kind] = seen[c.Spec.Kind] || chart.Drawn()
		charts = append(charts, chart)
	}
	return charts
}

// notes are the findings' own, and what this page left out.
func (v *chartView) notes() []string {
	var notes []string
	mean := ""
	if slices.ContainsFunc(figuresIn(v.Chart), func(f cells.Figure) bool { return f.Mean == cells.Arithmetic && f.Value != 0 }) {
		mean = "where a figure is 0, the mean over blocks is arithmetic, elsewhere geometric"
	}
	for _, note := range slices.Concat([]string{v.Knee, mean}, v.Chart.Notes, v.cut) {
		if note != "" {
			notes = append(notes, sentence(note))
		}
	}
	return notes
}

// caption says how to read a form of chart once, and of each which trials it
// shows.
func (v *chartView) caption(f Figure, first bool) string {
	var parts []string
	switch {
	case first && f.Lines != nil && v.Capacity != nil:
		parts = append(parts, "Each point is a window at its rate, or the mean of those that had the same one. The objective is a line of its own.")
	case first && f.Lines != nil:
		parts = append(parts, "Each point is the mean over blocks with its 95 % interval. Points of one level stand beside each other where they would hide one another.")
	case first && f.Heat != nil:
		parts = append(parts, "Each box is the mean over blocks. Its interval shows under the pointer and in the table.")
	case first && f.Front != nil:
		parts = append(parts, "Each point is the mean over blocks with its 95 % intervals. The steps are the Pareto front: no other point is as good or better in both metrics. Pale points are dominated: another point is as good or better in both. Both axes are logarithmic.")
	}
	if f.Lines != nil && f.Lines.X.Log {
		parts = append(parts, "The horizontal axis is logarithmic"+zeroWords(f.Lines.X)+".")
	}
	if f.Lines != nil && !f.Lines.Y.Log {
		parts = append(parts, "The vertical axis starts at zero.")
	}
	if where := v.where(); where != "" {
		parts = append(parts, "Only trials "+where+".")
	}
	return strings.Join(parts, " ")
}

func zeroWords(a Axis) string {
	if len(a.Ticks) > 0 && a.Ticks[0].At == 0 {
		return ", with zero before the gap"
	}
	return ""
}
