package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// nothing says why a run has no answer.
func nothing(run compare.Run) string {
	for _, c := range run.Comparisons {
		if c.Primary && c.Verdict.Refused() && c.Reason != "" {
			return "No answer: " + strings.TrimSuffix(c.Reason, ".") + "."
		}
	}
	for _, c := range run.Comparisons {
		if c.Primary && c.Sentence != "" { // on what has no better direction
			return c.Sentence
		}
	}
	if run.Tally.Valid == 0 {
		text := fmt.Sprintf("No answer: none of %s gave a valid figure", quantity.Plural(run.Tally.Planned, "trial"))
		for _, cell := range run.Cells {
			for _, arm := range cell.Arms {
				if lost, why := lostOf(arm); lost > 0 {
					return text + ": " + why + "."
				}
			}
		}
		return text + "."
	}
	return "No answer: a ratio needs two arms with valid trials in two rounds."
}

const limitsSaid = 2 // that the condition names

// condition says in one line under what the answer holds: the machine, the link, the load,
// and what limited the arms.
func condition(run compare.Run) string {
	limits := map[trial.Limit]int{}
	for _, cell := range run.Cells {
		for _, arm := range cell.Arms {
			limits[arm.Limit]++
		}
	}
	delete(limits, "")
	delete(limits, trial.Unknown)
	if len(limits) > 1 {
		delete(limits, trial.Schedule) // which is no limit
	}
	var parts []string
	if len(run.Cells) == 1 {
		parts = append(parts, run.Plan().Names.Cell(run.Cells[0].Name))
	}
	parts = append(parts, cells.Place(run.Plan(), run.Header.Facts))
	if run.Header.Facts.Pinned() {
		parts = append(parts, "servers pinned")
	}
	if rate := run.Plan().Hold[record.Rate]; rate != "" && rate != "max" {
		parts = append(parts, cells.Spoken("rate="+rate)+" offered")
	}
	if run.Plan().Hold["pace"] == "cheap" {
		parts = append(parts, "sent together (pace=cheap"+waited(run)+")")
	}
	if sharesOfOwn(run.Plan()) {
		parts = append(parts, "flat out is each arm's own closed loop")
	}
	if run.Plan().Hold["arrival"] == "poisson" {
		parts = append(parts, "Poisson arrivals")
	}
	if slices.ContainsFunc(metric.SlowdownNames(), func(name string) bool { return slices.Contains(run.Plan().Compare.Primary, name) }) {
		parts = append(parts, "slowdown is a time ÷ the arm's own for that size without load")
	}
	if without := run.Plan().LeftOut; len(without) > 0 {
		parts = append(parts, "without "+strings.Join(without, ", "))
	}
	text := part.Joined(", ", parts...)
	if words := limitsIn(limits); words != "" {
		text = strings.TrimPrefix(text+"; "+words, "; ")
	}
	if text == "" {
		return ""
	}
	return part.Sentence(text)
}

// waited says how long requests waited for their sending on average, in the arm where that was
// longest; "" where no arm has both times.
func waited(run compare.Run) string {
	most := 0.0
	for _, cell := range run.Cells {
		for _, arm := range cell.Arms {
			response, has := arm.Summary(metric.MeanName(record.Response))
			if service, both := arm.Summary(metric.MeanName(record.Service)); has && both {
				most = max(most, response.Value-service.Value)
			}
		}
	}
	if most == 0 {
		return ""
	}
	return "; on average " + quantity.FormatMicroseconds(most) + " from due to sent, which response times include"
}

// sharesOfOwn tells whether rates are shares of what each arm does by itself.
func sharesOfOwn(s cells.Plan) bool {
	levels := []string{s.Hold[record.Rate]}
	for _, f := range s.Vary {
		if f.Name == record.Rate {
			levels = append(levels, f.Levels...)
		}
	}
	return s.Hold[record.RateOf] == "" && slices.ContainsFunc(levels, func(l string) bool { return strings.HasSuffix(l, "%") })
}

// limitsIn says the limits of some arms, the most frequent first.
func limitsIn(count map[trial.Limit]int) string {
	var limits []trial.Limit
	for l := range count {
		limits = append(limits, l)
	}
	slices.SortFunc(limits, func(a, b trial.Limit) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	switch len(limits) {
	case 0:
		return ""
	case 1:
		if limits[0] == trial.Schedule {
			return "nothing was saturated"
		}
		return "limited by " + limits[0].Called()
	case limitsSaid:
		return "limited by " + limits[0].Called() + " and " + limits[1].Called()
	}
	return fmt.Sprintf("limited by %s, %s and %s", limits[0].Called(), limits[1].Called(), quantity.Plural(len(limits)-limitsSaid, "other"))
}
