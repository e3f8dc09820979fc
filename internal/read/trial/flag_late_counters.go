package trial

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// LateCounters says that CPU counters were read so late, or two workers' windows
// differ so much in length, that a cost may be off by more than the usual margin.
const LateCounters = "late-counters"

// lateShare is the usual margin: a cost that is off by less decides nothing.
const lateShare = 0.02

var flagLateCounters = Flag{
	Name:    LateCounters,
	Changes: "costs may be off by more than the usual margin of 2 %",
	Warning: "read their CPU counters late by more than 2 % of the window",
	Advice:  "lengthen the window (window=2s), or leave the workers a free CPU: one that waits for its only core answers late",
	raise: func(e *audit) string {
		share, why := costError(e)
		if share <= lateShare {
			return ""
		}
		return why
	},
}

// Of so many trials with one length of window the middle one tells how late a rig's
// counters are read; a trial that is later by so many times is later than its rig.
const (
	rigTrials = 8
	rigTimes  = 3
)

// RigLateness says how late a rig reads counters in trials with one length of window.
type RigLateness struct {
	Window string  // as the plan says
	Share  float64 // by which a cost may be off in the middle trial
	Needed float64 // how many times the window would have to last for the usual margin
}

// Lateness returns, by window, how late a rig's counters are read where the middle trial's
// costs may be off by more than the usual margin: marks that travel far, or hosts that are
// busy all the time. Then no trial is to blame.
func Lateness(judged []*Judged) []RigLateness {
	shares := map[string][]float64{}
	for _, v := range judged {
		if v.Trial.Status == Valid {
			window := v.Plan.Levels["window"]
			shares[window] = append(shares[window], v.CostError)
		}
	}
	var all []RigLateness
	for _, window := range slices.Sorted(maps.Keys(shares)) {
		if middle := stat.Median(shares[window]); len(shares[window]) >= rigTrials && middle > lateShare {
			all = append(all, RigLateness{window, middle, middle / lateShare})
		}
	}
	return all
}

// LateForRig takes flag LateCounters from trials that are hardly later than their rig's
// middle one: what holds of all trials is said once, of the rig.
func LateForRig(judged []*Judged) {
	for _, of := range Lateness(judged) {
		for _, v := range judged {
			at := slices.Index(v.Trial.Flags, LateCounters)
			if at < 0 || v.Plan.Levels["window"] != of.Window || v.CostError > rigTimes*of.Share {
				continue
			}
			v.drop(LateCounters)
		}
	}
}

// costError returns the share by which a cost of the trial may be off, and why. A
// cost is CPU time ÷ the time between its two readings, by work ÷ the window: each
// has its own length, so that late readings by themselves change nothing. What
// they do change lies in the time by which readings and window are apart
// (specification §4.2): CPU time that is left out at the opening, and at the close
// time in which no work begins. Of either the mean may be off by at most its share,
// if the CPU time there was between none and twice the mean.
func costError(e *audit) (share float64, why string) {
	if e.amount() {
		return 0, "" // costs divide totals, and what was read late holds them all
	}
	share, why = unequalWindows(e)
	for w := range e.workers() {
		span, ok := e.window.Span(w)
		if !ok {
			continue
		}
		from, to, length, ok := span.Metered()
		if !ok {
			continue
		}
		late := (math.Abs(float64(from.SkewNs)) + math.Abs(float64(to.SkewNs))) / 1e9
		if late/length > share {
			share = late / length
			why = fmt.Sprintf("the CPU counters of %s were read %.3g ms off the mark, %.2g %% of the window", w.Name, 1e3*late, 100*share)
		}
	}
	return share, why
}

// unequalWindows compares durations, which two clocks agree on. The share is of the
// shortest.
func unequalWindows(e *audit) (share float64, why string) {
	var shortest, longest *record.Worker
	least, most := math.Inf(1), 0.0
	for w := range e.workers() {
		span, ok := e.window.Span(w)
		if !ok {
			continue
		}
		length, ok := span.Seconds()
		if !ok {
			continue
		}
		if length < least {
			least, shortest = length, w
		}
		if length > most {
			most, longest = length, w
		}
	}
	if longest == nil {
		return 0, ""
	}
	return (most - least) / least, fmt.Sprintf("the window of %s was %.3g ms longer than that of %s", longest.Name, 1e3*(most-least), shortest.Name)
}
