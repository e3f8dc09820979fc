package expect

import (
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// became is what became of a bound that must hold.
var became = map[compare.State]State{compare.Met: Holds, compare.Broken: DoesNotHold, compare.Undecided: Undecided}

// Must is a bound that must hold, as a statement. It was judged in the family of all such
// bounds.
func Must(r compare.Requirement) Result {
	out := Result{
		Spec: record.Expectation{Title: r.Text + cells.InCell(r.Cell)}, Must: true, State: became[r.State], Level: r.Level, Evidence: []Evidence{},
		Figure: part.Joined("; ", held(r), r.Reason, r.Decides),
	}
	out.Ground = out.Figure + "."
	return out
}

// held is a bound's figure with its interval: a ratio, or the metric in a unit that suits it.
// One block gives no ratio and no interval.
func held(r compare.Requirement) string {
	figure := cells.Figure{N: r.Blocks, Of: r.Of, Value: r.Value, Low: r.Low, High: r.High}
	switch {
	case r.Blocks == 0, r.Base != "" && r.Blocks == 1:
		return ""
	case r.Base == "" && r.Low > 0:
		return part.FigureWords(r.Metric, figure)
	case r.Base == "":
		s := part.ScaleFor(r.Metric, r.Value)
		return part.WithUnit(r.Value, s) + part.Bracketed(s.Interval(r.Low, r.High))
	case !cells.Known(r.Blocks, r.Value, r.Low, r.High):
		return cells.Unknown + part.Bracketed(cells.WhyUnknown(r.Blocks, r.Of))
	}
	return part.TimesIn(r.Value, r.Low, r.High)
}

// Musts is the table of the statements that must hold for a gate to open.
func (all Results) Musts() part.Table {
	return slices.DeleteFunc(slices.Clone(all), func(r Result) bool { return !r.Must }).table().Between(2, 4)
}
