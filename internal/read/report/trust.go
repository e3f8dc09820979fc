package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/read/trial"
)

// trust is what the figures of each arm rest on: ledgers, steadiness, flags,
// limits.
func (l *layout) trust() Section {
	t := Table{Columns: head("cell", "arm", "#ledgers closed", "#steady", "flags of valid trials", "limit")}
	for _, cell := range l.Cells {
		for _, arm := range cell.Arms {
			valid, read, steady, flags := 0, 0, 0, map[string]int{}
			for _, judged := range arm.Trials {
				switch judged.Status {
				case trial.StatusInvalid:
					read++
				case trial.Valid:
					read, valid = read+1, valid+1
					if !slices.Contains(judged.Flags, trial.Unsteady) {
						steady++
					}
					for _, flag := range judged.Flags {
						flags[flag]++
					}
				}
			}
			t.Rows = append(t.Rows, words(or(cell.Name, "all"), arm.Name, fmt.Sprintf("%d of %d", valid, read),
				fmt.Sprintf("%d of %d", steady, valid), counted(flags), string(arm.Limit)))
		}
	}
	return Section{
		ID: "trust", Title: "What the figures rest on",
		Note: "A ledger closes when every count of a trial agrees with every other: what clients and servers say, the kernel, the interfaces, the histograms. " +
			"A trial is steady without a step or a slope of its rate inside the window. Only trials whose ledger closes are compared.",
		Tables: []Table{bounded(t)},
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
