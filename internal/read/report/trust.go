package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
)

// trust is what the figures of each arm rest on: consistency checks,
// steadiness, flags, limits.
func (l *layout) trust() Section {
	t := Table{Columns: slices.Concat(columns("cell"), ofKind(Arms, "arm"), numbers("checks passed", "steady"), columns("flags of valid trials"), ofKind(Limits, "limit"))}
	for _, cell := range l.Cells {
		for _, arm := range cell.Arms {
			t.Rows = append(t.Rows, l.trustRow(cell.Name, arm))
		}
	}
	return Section{
		ID: "trust", Title: "What the figures rest on",
		Note: "A trial passes the consistency checks when all its counts agree: those of clients and servers, of the kernel, of the interfaces and of the histograms. " +
			"Only such trials are compared. A flag is a remark on a trial that stays in the figures. A trial is steady when its rate has no step and no slope inside the window.",
		Tables: []Table{bounded(t)},
	}
}

func (l *layout) trustRow(cell string, arm cells.Arm) []Datum {
	valid, read, steady, flags := 0, 0, 0, map[string]int{}
	for _, t := range arm.Trials {
		switch t.Status {
		case trial.StatusInvalid:
			read++
		case trial.Valid:
			read, valid = read+1, valid+1
			if !slices.Contains(t.Flags, trial.Unsteady) {
				steady++
			}
			for _, flag := range t.Flags {
				flags[flag]++
			}
		}
	}
	return []Datum{
		word(or(cell, "all")), l.named(arm.Name), number(fmt.Sprintf("%d of %d", valid, read), ""),
		number(fmt.Sprintf("%d of %d", steady, valid), ""), word(counted(flags)), word(string(arm.Limit)),
	}
}

// counted lists flags with how many trials have them.
func counted(flags map[string]int) string {
	var parts []string
	for _, flag := range sortedKeys(flags) {
		parts = append(parts, fmt.Sprintf("%s %d", flag, flags[flag]))
	}
	return or(strings.Join(parts, ", "), "none")
}
