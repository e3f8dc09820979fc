package trial

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
)

// Unfinished says that exchanges that were due in the window never completed. They count
// at the ages that they reached, so some figures are lower bounds: an exchange that had
// waited 3 s at the end counts as 3 s.
const Unfinished = "unfinished"

var flagUnfinished = Flag{
	Name:    Unfinished,
	Changes: "times count them at the ages that they reached: one marked ≥ is a lower bound",
	Warning: "left exchanges unfinished that were due in the window",
	Advice:  "lengthen the window or offer less, and look at what the server did at the end of the window",
	raise:   unfinished,
}

func unfinished(e *audit) (why string) {
	u, ok := e.window.Unfinished()
	if !ok || u.Exchanges == 0 {
		return ""
	}
	why = fmt.Sprintf("%d exchanges due in the window never completed", u.Exchanges)
	if u.Ages == nil {
		return why
	}
	why += "; the oldest had waited " + quantity.FormatDuration(time.Duration(u.Ages.MaxNs()))
	var bounds []string
	moved := metric.Moved(e.window)
	for _, name := range slices.Sorted(maps.Keys(moved)) {
		bounds = append(bounds, fmt.Sprintf("%s is at least %s", name, quantity.FormatDuration(time.Duration(1000*moved[name]))))
	}
	if len(bounds) > 0 {
		why += ": " + strings.Join(bounds, ", ")
	}
	return why
}

// Bounds counts the valid trials whose figure of a metric is a lower bound.
func Bounds(trials iter.Seq[*Trial], metric string) int {
	n := 0
	for t := range trials {
		if t.Status == Valid && t.AtLeast(metric) {
			n++
		}
	}
	return n
}
