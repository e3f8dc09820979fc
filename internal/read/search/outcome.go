package search

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

const windowFactor, warmupFactor, flatOut = "window", "warmup", "max"

// tryOf reads whether a trial with a record met the objective.
func tryOf(objective []record.Bound, v *trial.Judged) Try {
	t := Try{ID: v.Plan.ID, Block: v.Plan.Block, Seconds: float64(v.Record.Timeline.EndNs) / 1e9, Value: v.Trial.Values.At(objective[0].Metric)}
	t.Rate, _ = quantity.ParseRate(v.Plan.Levels[record.Rate])
	if window, err := quantity.ParseDuration(v.Plan.Levels[windowFactor]); err == nil {
		t.Window = window.Seconds()
	}
	t.client = v.Trial.Limit == trial.ClientCPU || v.Trial.Limit == trial.ClientCore
	told, why := judged(objective, v)
	t.Untold, t.Met, t.Why = !told, told && why == "", why
	return t
}

// judged tells whether a trial says anything of the objective, and why the trial missed
// it; "" when it met the objective. A load generator that fell behind its schedule did
// not offer the rate, whoever was the cause, so the rate counts as not carried. A trial
// that failed or is invalid is no evidence, unless its only fault is that the other end
// failed exchanges.
func judged(objective []record.Bound, v *trial.Judged) (told bool, why string) {
	t := v.Trial
	failed := failedThere(v)
	switch {
	case t.Status == trial.StatusFailed:
		return false, "it failed: " + t.Reason
	case t.Status == trial.StatusInvalid && !failed:
		return false, "it is invalid: " + t.Reason
	case t.Status == trial.StatusUnsupported, t.Status == trial.StatusMissing:
		return false, t.Reason
	case failed && !slices.ContainsFunc(objective, func(b record.Bound) bool { return b.Metric == metric.ErrorShare }):
		return true, t.Reason
	case slices.Contains(t.Flags, trial.Overloaded):
		return true, t.Reason
	}
	for _, b := range objective {
		value, ok := t.Values.Of(b.Metric)
		if !ok {
			return false, absent(b.Metric, t)
		}
		if value > b.Value && !b.AtLeast || value < b.Value && b.AtLeast {
			return true, shown(b.Metric, value)
		}
	}
	return true, ""
}

// failedThere tells whether exchanges failed by the other end's doing, and nothing else
// is wrong with a trial: no other check comes before it, and nothing stood still.
func failedThere(v *trial.Judged) bool {
	checks := trial.Checks()
	if v.Trial.Errors == 0 || len(v.Trial.Stalls) > 0 || v.Passed >= len(checks) || checks[v.Passed].Name != "errors" {
		return false
	}
	for _, w := range v.Record.Workers {
		if w.Result == nil {
			continue
		}
		for kind := range w.Result.Counts.Errors {
			if kind != contract.Peer && kind != contract.Timeout && kind != contract.Invalid {
				return false
			}
		}
	}
	return true
}

// absent says why a trial lacks a figure.
func absent(name string, t trial.Trial) string {
	if m := metric.Shown(name); m.Least > 0 {
		return fmt.Sprintf("the window held too few exchanges for %s, which needs %d", name, m.Least)
	}
	return cmp.Or(t.Reason, "it has no "+name)
}

// shown is a metric's value with its unit: "response p99 12.3 ms".
func shown(name string, value float64) string {
	return part.Label(name) + " " + part.WithUnit(value, metric.Shown(name).Scale(value))
}

// notFar is how far from a capacity, as a factor, a trial still shows what limits it.
const notFar = 1.6

// limitAt returns what limited an arm at its capacity: by the trials that fell behind at
// rates not far above it, else by the closed loop, if that loop's rate is not far above
// it. The limit is unknown where neither shows one.
func limitAt(tries []Try, all map[string]*trial.Judged, capacity float64, closed *trial.Judged) (limit trial.Limit, of contract.Role, proof string) {
	count, first := map[trial.Limit]int{}, map[trial.Limit]*trial.Judged{}
	for _, t := range tries {
		v := all[t.ID]
		limit := v.Trial.Limit
		if v.Refused != "" && v.LimitOf != contract.Server { // below this rate it refused less
			limit = trial.Limiter
		}
		if t.Met || t.Rate > notFar*capacity || limit == trial.Schedule || limit == trial.Unknown || limit == "" {
			continue
		}
		if count[limit]++; first[limit] == nil {
			first[limit] = v
		}
	}
	best := closed
	for _, l := range trial.Limits() {
		if count[l] > 0 && (best == closed || count[l] > count[best.Trial.Limit]) {
			best = first[l]
		}
	}
	if best == closed && closed.Trial.Values.At(metric.ExchangesPerS) > notFar*capacity {
		return trial.Unknown, "", "no window that missed the objective near this rate shows what was full"
	}
	if count[trial.Limiter] > 0 && first[trial.Limiter] == best {
		return trial.Limiter, contract.Server, best.Plan.ID + ": " + best.Refused
	}
	return best.Trial.Limit, best.LimitOf, best.Plan.ID + ": " + best.Trial.LimitProof
}
