package report

import (
	"cmp"
	"slices"
	"strconv"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// noise is the A/A comparison: the baseline against its own repeat.
func (l *layout) noise() part.Section {
	headed := slices.Concat(part.Titles("cell", "metric"), part.Figures("repeat ÷ first", "noise bound", "p"))
	primary := part.Table{Caption: "Primary metrics, with 95 % intervals.", Columns: headed}
	other := part.Table{Caption: "Other metrics, with 95 % intervals.", Columns: headed, Folded: true}
	for _, n := range l.Noise {
		row := []part.Datum{
			part.Word(cmp.Or(l.cell(n.Cell), "all")), part.Word(part.Label(n.Metric)), {Ratio: noiseRatio(n)},
			part.Value(part.Percent(n.Bound), ""), part.Value(part.Probability(n.P), ""),
		}
		if l.primary[n.Metric] {
			primary.Rows = append(primary.Rows, row)
		} else {
			other.Rows = append(other.Rows, row)
		}
	}
	return part.Section{
		ID: "noise", Title: "A/A: the baseline against itself",
		Notes: []string{"The baseline ran twice in every block, in fresh processes each time. How much it differs from itself is this machine's noise. " +
			"A difference between arms counts only outside the larger of that bound and the study's margin of " + strconv.FormatFloat(100*l.Header.Study.Compare.Margin, 'g', 3, 64) + " %."},
		Tables: []part.Table{part.Bounded(primary), part.Bounded(other)},
	}
}

// noiseRatio is the baseline's ratio to itself.
func noiseRatio(n compare.Noise) *part.Ratio {
	return part.RatioOver(len(n.Ratios), len(n.Ratios), n.Ratio, n.Low, n.High)
}
