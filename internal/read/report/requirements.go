package report

import (
	"fmt"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// Requirement is one sentence on a declared bound, with the state that it
// states.
type Requirement struct {
	State compare.State `json:"state"`
	Text  string        `json:"text"`
}

// requirements puts those first that are not met: somebody must act on them.
func (l *layout) requirements() []Requirement {
	var all []Requirement
	for _, state := range []compare.State{compare.Broken, compare.Undecided, compare.Met} {
		for _, r := range l.Requirements {
			if r.State == state {
				all = append(all, Requirement{state, requirementText(r)})
			}
		}
	}
	return all
}

// requirementText is one requirement in a sentence.
func requirementText(r compare.Requirement) string {
	said := fmt.Sprintf("%s%s: %s", r.Text, cells.InCell(r.Cell), r.State)
	value, interval := measured(r)
	switch {
	case value == "":
	case interval == "":
		said += fmt.Sprintf(", %s (%s)", value, quantity.Plural(r.Blocks, "block"))
	default:
		said += fmt.Sprintf(", %s (%s interval %s, %s)", value, compare.Confidence(r.Interval), interval, quantity.Plural(r.Blocks, "block"))
	}
	for _, why := range []string{r.Reason, r.Decides} {
		if why != "" {
			said += "; " + why
		}
	}
	return said + "."
}

// measured prints a requirement's figure and interval: a ratio, or the metric
// in a unit that suits it. Each is empty where there is none: one block gives
// no ratio and no interval.
func measured(r compare.Requirement) (value, interval string) {
	switch {
	case r.Blocks == 0, r.Base != "" && r.Blocks == 1:
		return "", ""
	case r.Base != "" && !cells.Known(r.Blocks, r.Value, r.Low, r.High):
		return unknownText(r), ""
	case r.Base != "":
		return part.Times(r.Value), part.Span(r.Low, r.High)
	}
	s := part.ScaleFor(r.Metric, r.Value)
	if f := (cells.Figure{N: r.Blocks, Of: r.Of, Value: r.Value, Low: r.Low, High: r.High}); r.Low > 0 && !f.Known() {
		return unknownText(r), ""
	}
	value = s.Format(r.Value) + part.NoBreak + s.Unit
	if r.Blocks < 3 {
		return value, ""
	}
	return value, s.Interval(r.Low, r.High)
}

func unknownText(r compare.Requirement) string {
	return cells.Unknown + " (" + cells.WhyUnknown(r.Blocks, r.Of) + ")"
}
