package cells

import (
	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
)

// Failures returns how many of an arm's exchanges failed, which share of all that is,
// and why; the trials that are invalid for it are among them.
func (a Arm) Failures() (failed int64, share float64, why []contract.Reason) {
	all := 0.0
	for t := range a.All() {
		if t.Errors == 0 {
			continue
		}
		failed += t.Errors
		why = append(why, t.Reasons...)
	}
	for _, s := range a.Metrics {
		if s.Metric == metric.ErrorShare {
			all = s.Value
		}
	}
	return failed, all, trial.SumReasons(why)
}
