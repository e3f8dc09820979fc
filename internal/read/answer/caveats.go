package answer

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// unansweredSaid is the least share of exchanges without an answer of which a headline
// speaks: as many move a p99.
const unansweredSaid = 0.01

// unanswered says which arms left how much of their exchanges without an answer, the
// worst first: whatever else a run says of them is said of the rest.
func unanswered(r compare.Run) string {
	type silence struct {
		arm   string
		share float64
	}
	var all []silence
	for _, cell := range r.Cells {
		for _, arm := range cell.Arms {
			if arm.Unfinished >= unansweredSaid {
				all = append(all, silence{armIn(r, cell, arm), arm.Unfinished})
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b silence) int { return cmp.Compare(b.share, a.share) })
	if len(r.Cells) == 1 && len(r.Cells[0].Arms) == 1 {
		return percent(all[0].share) + " % of the exchanges were never answered"
	}
	var parts []string
	for i, one := range all {
		text := fmt.Sprintf("%s %s %%", one.arm, percent(one.share))
		switch i {
		case 0:
			text = fmt.Sprintf("%s never answered %s %% of its exchanges", one.arm, percent(one.share))
		case armsSaid:
			parts = append(parts, quantity.Plural(len(all)-i, "other")+" fewer")
			return part.And(parts)
		}
		parts = append(parts, text)
	}
	return part.And(parts)
}

// armsSaid bounds the arms that are named together.
const armsSaid = 3

// armIn names an arm in its cell.
func armIn(r compare.Run, cell cells.Cell, arm cells.Arm) string {
	label := cells.ArmWithin(r.Header.Study, arm.Name)
	if in := cells.CellLabel(r.Header.Study, cell.Name); len(r.Cells) > 1 && in != "" {
		return label + " at " + in
	}
	return label
}

// failures says what share of the exchanges failed and why, of the worst arm: rates
// and times are of the others. much tells whether so many did that it comes first.
func failures(r compare.Run) (said string, much bool) {
	var worst string
	most, others := 0.0, 0
	for _, cell := range r.Cells {
		for _, arm := range cell.Arms {
			failed, share, why := arm.Failures()
			if failed == 0 {
				continue
			}
			if others++; share <= most && worst != "" {
				continue
			}
			of := "the exchanges"
			if len(r.Cells) > 1 || len(cell.Arms) > 1 {
				of += " of " + armIn(r, cell, arm)
			}
			most, worst = share, fmt.Sprintf("%s %% of %s failed: %s", percent(share), of, trial.ReasonsText(why))
		}
	}
	switch {
	case others == 0:
		return "", false
	case others > 1:
		worst += fmt.Sprintf(", and less of %s", quantity.Plural(others-1, "other"))
	}
	return worst, most >= unansweredSaid
}

// besideOthers says in how many trials other processes used the CPUs, and how much of them
// at most, where they did in most trials of some arm: whatever else a run says was measured
// beside them.
func besideOthers(r compare.Run) string {
	beside, valid, most, said := 0, 0, 0.0, false
	for _, cell := range r.Cells {
		for _, arm := range cell.Arms {
			of, all := 0, 0
			for _, t := range arm.Trials {
				if t.Status != trial.Valid {
					continue
				}
				if all++; t.Others > 0 {
					of, most = of+1, max(most, t.Others)
				}
			}
			beside, valid, said = beside+of, valid+all, said || 2*of > all
		}
	}
	if !said {
		return ""
	}
	return fmt.Sprintf("in %d of %d trials other processes used the CPUs, up to %s of their time", beside, valid, quantity.FormatShare(most))
}

// broken says the first requirement that is broken, with the figure that breaks it,
// and how many others are.
func broken(study record.Study, all []compare.Requirement) string {
	var failed []compare.Requirement
	for _, r := range all {
		if r.State == compare.Broken {
			failed = append(failed, r)
		}
	}
	if len(failed) == 0 {
		return ""
	}
	r, in := failed[0], ""
	if r.Cell != "" {
		in = " at " + cells.CellLabel(study, r.Cell)
	}
	text := fmt.Sprintf("the requirement %s is broken%s: %s", r.Text, in, requiredFigure(r))
	if more := len(failed) - 1; more > 0 {
		text += fmt.Sprintf(", and %s too", quantity.Plural(more, "other")+isAre(more))
	}
	return text
}

// kept says which requirements are met, and which cannot be told.
func kept(all []compare.Requirement) string {
	count := map[compare.State]int{}
	for _, r := range all {
		count[r.State]++
	}
	met, open := count[compare.Met], count[compare.Undecided]
	switch {
	case open > 0:
		return fmt.Sprintf("%s cannot be told yet, %d met", quantity.Plural(open, "requirement"), met)
	case met == 0:
		return ""
	case met == 1 && len(all) == 1:
		return fmt.Sprintf("the requirement %s is met", all[0].Text)
	case met == len(all):
		return fmt.Sprintf("all %d requirements are met", met)
	}
	return quantity.Plural(met, "requirement") + isAre(met) + " met"
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
