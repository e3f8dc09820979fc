package trial

import (
	"fmt"

	"netdyno/internal/metric"
)

// Backlog says that an open loop worked off in its window what had fallen due before it.
const Backlog = "backlog"

// backlogShare is by how much more than fell due in its window an open loop may complete
// there without a word.
const backlogShare = 0.02

var flagBacklog = Flag{
	Name:    Backlog,
	Changes: "rates are those at which requests fell due, and times contain what waited before",
	Warning: "began the window with a backlog and worked it off there",
	Advice:  "lengthen the warm-up (warmup=2s), or offer less, until the server keeps up from the start",
	raise: func(e *audit) string {
		if e.over <= 1 {
			return ""
		}
		return fmt.Sprintf("it completed %.4g %% of what fell due in its window, as it began with a backlog", 100*e.over)
	},
}

// overOffered returns an open loop's rate ÷ that at which its exchanges fell due, where
// this is above 1 by more than chance; else 1. No rate above what was offered is shown.
func overOffered(e *audit) float64 {
	due, told := metric.DueRate(e.window)
	if !told || !e.open || e.amount() {
		return 1
	}
	over := e.values[metric.ExchangesPerS] / due
	if over <= 1+max(backlogShare, scheduleNoise(e)) {
		return 1
	}
	for _, rate := range []string{metric.ExchangesPerS, metric.Goodput} {
		if _, has := e.values[rate]; has {
			e.values[rate] /= over
		}
	}
	if share, has := e.values[metric.OfferedShare]; has {
		e.values[metric.OfferedShare] = min(share, 1)
	}
	return over
}
