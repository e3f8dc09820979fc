package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// Lost counts the trials of an arm that ended without a valid figure for the
// same reason.
type Lost struct {
	Arm    string `json:"arm"`
	Status string `json:"status"` // "failed", "invalid", "missing", "unsupported"
	Reason string `json:"reason"`
	Trials int    `json:"trials"`
}

// lost lists the reasons in the order in which they first occurred.
func (l *layout) lost() []Lost {
	var all []Lost
	seen := map[Lost]int{} // place in all, by what is the same
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			for _, t := range a.Trials {
				if t.Status == trial.Valid {
					continue
				}
				reason := Lost{Arm: a.Name, Status: t.Status, Reason: reasonOf(t)}
				place, known := seen[reason]
				if !known {
					place = len(all)
					seen[reason], all = place, append(all, reason)
				}
				all[place].Trials++
			}
		}
	}
	return all
}

func reasonOf(t trial.Trial) string { return cmp.Or(t.Reason, "no reason was recorded") }

// problems lists every trial that has no valid figure, or has a flag. Its title says
// the worst of it.
func (l *layout) problems() part.Section {
	which := slices.Concat(part.Titles("trial", "cell"), part.OfKind(part.Arms, "arm"), part.Figures("block"))
	lost := part.Table{Caption: "Trials without a valid figure.", Columns: slices.Concat(which, part.Titles("ended", "why"))}
	flagged := part.Table{Caption: "Valid trials with a flag. They are kept.", Columns: slices.Concat(which, part.Titles("flags")), Folded: true}
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			for _, t := range a.Trials {
				row := []part.Datum{part.Word(t.ID), part.Word(cmp.Or(l.cell(c.Name), "all")), l.named(a.Name), part.Value(strconv.Itoa(t.Block), "")}
				switch {
				case t.Status != trial.Valid:
					lost.Rows = append(lost.Rows, append(row, part.Row(t.Status, reasonOf(t))...))
				case len(t.Flags) > 0:
					flagged.Rows = append(flagged.Rows, append(row, part.Word(flagsOf(t))))
				}
			}
		}
	}
	title := "Trials with a flag"
	switch {
	case l.Tally.Failed+l.Tally.Invalid > 0:
		title = "What went wrong"
	case len(lost.Rows) > 0:
		title = "Trials without a figure"
	}
	return part.Section{
		ID: "failures", Title: title,
		Notes:  []string{"Every planned trial leaves one record, also when it fails."},
		Tables: []part.Table{part.Bounded(lost), part.Bounded(flagged)},
	}
}

// flagsOf prints a valid trial's flags, and what it lacks because of them.
func flagsOf(t trial.Trial) string {
	text := strings.Join(t.Flags, ", ")
	if !t.Partial() {
		return text
	}
	text += "; rates, costs and times from the send are left out"
	if times := trial.StallTimes(t.Stalls); times != "" {
		text += ", as nothing moved " + times + " after the window opened"
	}
	return text
}
