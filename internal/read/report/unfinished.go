package report

import (
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
)

// leftOver names the columns that a cell's tables have only where exchanges never
// completed: how many, and how long the oldest had waited.
func leftOver(c cells.Cell) []string {
	for _, a := range c.Arms {
		if slices.ContainsFunc(a.Trials, func(t trial.Trial) bool { return t.Status == trial.Valid && t.Values["unfinished"] > 0 }) {
			return []string{"unfinished", "unfinished_age_max_us"}
		}
	}
	return nil
}
