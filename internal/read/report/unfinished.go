package report

import (
	"slices"

	"netdyno/internal/read/finding"
)

// leftOver names the columns that a cell's tables have only where exchanges never
// completed: how many, and how long the oldest had waited.
func leftOver(c finding.Cell) []string {
	for _, a := range c.Arms {
		if slices.ContainsFunc(a.Trials, func(t finding.Trial) bool { return t.Status == finding.Valid && t.Values["unfinished"] > 0 }) {
			return []string{"unfinished", "unfinished_age_max_us"}
		}
	}
	return nil
}
