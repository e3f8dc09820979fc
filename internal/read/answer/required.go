package answer

import (
	"fmt"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// broken says the first requirement that is broken, with the figure that breaks it,
// and how many others are.
func broken(all []compare.Requirement) []clause {
	var failed []compare.Requirement
	for _, r := range all {
		if r.State == compare.Broken {
			failed = append(failed, r)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	r := failed[0]
	text := fmt.Sprintf("the requirement %s is broken%s: %s", r.Text, atCell(r.Cell), requiredFigure(r))
	if more := len(failed) - 1; more > 0 {
		text += fmt.Sprintf(", and %s too", quantity.Plural(more, "other")+isAre(more))
	}
	return []clause{{text: text}}
}

// kept says which requirements are met, and which cannot be told.
func kept(all []compare.Requirement) []clause {
	count := map[compare.State]int{}
	for _, r := range all {
		count[r.State]++
	}
	met, open := count[compare.Met], count[compare.Undecided]
	switch {
	case open > 0:
		return []clause{{text: fmt.Sprintf("%s cannot be told yet, %d met", quantity.Plural(open, "requirement"), met)}}
	case met == 0:
		return nil
	case met == 1 && len(all) == 1:
		return []clause{{text: fmt.Sprintf("the requirement %s is met", all[0].Text)}}
	case met == len(all):
		return []clause{{text: fmt.Sprintf("all %d requirements are met", met)}}
	}
	return []clause{{text: quantity.Plural(met, "requirement") + isAre(met) + " met"}}
}

func requiredFigure(r compare.Requirement) string {
	if r.Base != "" {
		return part.TimesIn(r.Value, r.Low, r.High)
	}
	s := metric.Shown(r.Metric).Scale(r.Value)
	return fmt.Sprintf("%s %s (%s)", s.Format(r.Value), s.Unit, s.Interval(r.Low, r.High))
}

func isAre(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}
