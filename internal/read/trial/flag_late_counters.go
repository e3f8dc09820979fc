package trial

import (
	"fmt"
	"math"

	"netdyno/internal/record"
)

// LateCounters says that CPU counters were read late, or two workers' windows differ in
// length, so that costs divide counts of slightly different times.
const LateCounters = "late-counters"

// lateShare is the share of the window by which counters may be late.
const lateShare = 0.005

var flagLateCounters = Flag{
	Name:    LateCounters,
	Warning: "read their CPU counters more than 0.5 % of the window late, or over windows that differ by as much",
	Advice:  "lengthen the window, or give the worker another core: a worker that is busy on its only core answers late",
	raise: func(e *audit) string {
		if why := lateReading(e); why != "" {
			return why
		}
		return unequalWindows(e)
	},
}

func lateReading(e *audit) string {
	workers := e.window.Record.Workers
	for i := range workers {
		span, ok := e.window.Span(&workers[i])
		if !ok {
			continue
		}
		from, to, length, ok := span.Metered()
		if !ok {
			continue
		}
		skew := math.Max(math.Abs(float64(from.SkewNs)), math.Abs(float64(to.SkewNs))) / 1e9
		if skew > lateShare*length {
			return fmt.Sprintf("the CPU counters of %s were read %.3g ms off the mark, %.2g %% of the window",
				span.Worker.Name, 1e3*skew, 100*skew/length)
		}
	}
	return ""
}

// unequalWindows compares durations, which two clocks agree on.
func unequalWindows(e *audit) string {
	if e.amount() {
		return "" // each end is done in its own time
	}
	var shortest, longest *record.Worker
	least, most := math.Inf(1), 0.0
	workers := e.window.Record.Workers
	for i := range workers {
		span, ok := e.window.Span(&workers[i])
		if !ok {
			continue
		}
		length, ok := span.Seconds()
		if !ok {
			continue
		}
		if length < least {
			least, shortest = length, span.Worker
		}
		if length > most {
			most, longest = length, span.Worker
		}
	}
	if longest == nil || most-least <= lateShare*least {
		return ""
	}
	return fmt.Sprintf("the window of %s was %.3g ms longer than that of %s", longest.Name, 1e3*(most-least), shortest.Name)
}
