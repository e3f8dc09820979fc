package report

import (
	"slices"
	"strconv"

	"netdyno/internal/read/compare"
)

// noise is the A/A comparison: the baseline against its own repeat.
func (l *layout) noise() Section {
	headed := slices.Concat(columns("cell", "metric"), numbers("repeat ÷ first", "noise bound", "p"))
	primary := Table{Caption: "Primary metrics, with 95 % intervals.", Columns: headed}
	other := Table{Caption: "Other metrics, with 95 % intervals.", Columns: headed, Folded: true}
	for _, n := range l.Noise {
		row := []Datum{
			word(or(n.Cell, "all")), word(n.Metric), {Ratio: noiseRatio(n)},
			number(percent(n.Bound), ""), number(probability(n.P), ""),
		}
		if l.primary[n.Metric] {
			primary.Rows = append(primary.Rows, row)
		} else {
			other.Rows = append(other.Rows, row)
		}
	}
	return Section{
		ID: "noise", Title: "A/A: the baseline against itself",
		Note: "The baseline ran twice in every block, in fresh processes each time. How much it differs from itself is this machine's noise. " +
			"A difference between arms counts only outside the larger of that bound and the study's margin of " + strconv.FormatFloat(100*l.Header.Study.Compare.Margin, 'g', 3, 64) + " %.",
		Tables: []Table{bounded(primary), bounded(other)},
	}
}

// noiseRatio is the baseline's ratio to itself.
func noiseRatio(n compare.Noise) *Ratio {
	return ratioOver(len(n.Ratios), len(n.Ratios), n.Ratio, n.Low, n.High)
}
