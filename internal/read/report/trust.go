package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// trust is what the figures of each arm rest on: consistency checks,
// steadiness, flags, limits.
func (l *layout) trust() part.Section {
	t := part.Table{Columns: slices.Concat(part.Titles("cell"), part.OfKind(part.Arms, "arm"), part.Figures("checks passed", "steady"), part.Titles("flags of valid trials"), part.OfKind(part.Limits, "limit"))}
	for _, cell := range l.Cells {
		for _, arm := range cell.Arms {
			t.Rows = append(t.Rows, l.trustRow(cell.Name, arm))
		}
	}
	return part.Section{
		ID: "trust", Title: "What the figures rest on",
		Notes: []string{"A trial passes the consistency checks when all its counts agree: those of clients and servers, of the kernel, of the interfaces and of the histograms. " +
			"Only such trials are compared. A flag is a remark on a trial that stays in the figures. A trial is steady when its rate has no step and no slope inside the window."},
		Tables: []part.Table{part.Bounded(t)},
	}
}

func (l *layout) trustRow(cell string, arm cells.Arm) []part.Datum {
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
	return []part.Datum{
		part.Word(cmp.Or(l.cell(cell), "all")), l.named(arm.Name), part.Value(fmt.Sprintf("%d of %d", valid, read), ""),
		part.Value(fmt.Sprintf("%d of %d", steady, valid), ""), part.Word(counted(flags)), part.Word(string(arm.Limit)),
	}
}

// counted lists flags with how many trials have them.
func counted(flags map[string]int) string {
	var parts []string
	for _, flag := range sortedKeys(flags) {
		parts = append(parts, fmt.Sprintf("%s %d", flag, flags[flag]))
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}
