package trial

import "fmt"

// unmetered says whose meter readings are missing; "" when all are there.
func unmetered(e *audit) string {
	metered := 0
	for _, c := range e.groups {
		metered += len(c.spans)
	}
	switch {
	case e.away() != "":
		return "the server at " + e.away() + " was not metered; " + busiestWords(e)
	case e.why() != "":
		return "the server was not metered: " + e.why() + "; " + busiestWords(e)
	case e.elsewhere():
		return "the server runs elsewhere and was not metered; " + busiestWords(e)
	case metered < len(e.window.Record.Workers) || metered == 0:
		return "a worker's meter readings are missing"
	}
	return ""
}

// busiestWords says how busy the busiest thread of all workers was.
func busiestWords(e *audit) string {
	top := 0.0
	for _, c := range e.groups {
		busy, _, _ := busiest(c)
		top = max(top, busy)
	}
	return fmt.Sprintf("the busiest thread used %.0f %% of a CPU", 100*top)
}
