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

// Unfinished says that exchanges that were due in the window never completed. No
// percentile contains them.
const Unfinished = "unfinished"

var flagUnfinished = Flag{
	Name:    Unfinished,
	Changes: "percentiles leave them out: one marked ≥ is a lower bound",
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
	var moved []string
	percentiles := metric.Moved(e.window)
	for _, name := range slices.Sorted(maps.Keys(percentiles)) {
		moved = append(moved, fmt.Sprintf("%s is at least %s", name, quantity.FormatDuration(time.Duration(1000*percentiles[name]))))
	}
	if len(moved) > 0 {
		why += ": " + strings.Join(moved, ", ")
	}
	return why
}

// MovedIn counts the valid trials in which exchanges left unfinished would raise
// a metric: their figure, and any median over them, is a lower bound.
func MovedIn(trials iter.Seq[*Trial], metric string) int {
	n := 0
	for t := range trials {
		if _, moved := t.Moved[metric]; moved && t.Status == Valid {
			n++
		}
	}
	return n
}
