package report

import (
	"slices"
	"strconv"
	"strings"

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

func reasonOf(t trial.Trial) string { return or(t.Reason, "no reason was recorded") }

// problems lists every trial that has no valid figure, or has a flag. Its title says
// the worst of it.
func (l *layout) problems() Section {
	which := slices.Concat(columns("trial", "cell"), ofKind(Arms, "arm"), numbers("block"))
	lost := Table{Caption: "Trials without a valid figure.", Columns: slices.Concat(which, columns("ended", "why"))}
	flagged := Table{Caption: "Valid trials with a flag. They are kept.", Columns: slices.Concat(which, columns("flags")), Folded: true}
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			for _, t := range a.Trials {
				row := []Datum{word(t.ID), word(or(c.Name, "all")), l.named(a.Name), number(strconv.Itoa(t.Block), "")}
				switch {
				case t.Status != trial.Valid:
					lost.Rows = append(lost.Rows, append(row, words(t.Status, reasonOf(t))...))
				case len(t.Flags) > 0:
					flagged.Rows = append(flagged.Rows, append(row, word(flagsOf(t))))
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
	return Section{
		ID: "failures", Title: title,
		Note:   "Every planned trial leaves one record, also when it fails.",
		Tables: []Table{bounded(lost), bounded(flagged)},
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
