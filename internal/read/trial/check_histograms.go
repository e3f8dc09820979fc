package trial

import (
	"fmt"

	"netdyno/internal/record"
)

// checkHistograms demands one service time per exchange that completed, in
// the window or drained after it, and as many lengths where these are told.
func checkHistograms(e *audit) string {
	want := 0.0
	for _, g := range e.generators {
		if g.Result.Service == "" {
			return ""
		}
		want += float64(g.Result.Counts.Exchanges) + float64(g.Result.Drained)
	}
	h, ok := e.window.Histogram(record.Service)
	if !ok {
		return "a histogram of service times cannot be read"
	}
	if float64(h.Count()) != want {
		return fmt.Sprintf("%d service times were recorded for %.0f exchanges", h.Count(), want)
	}
	for _, g := range e.generators {
		if g.Result.Lengths == "" {
			continue
		}
		lengths, ok := e.window.HistogramOf(g, record.Lengths)
		if !ok {
			return "a histogram of the replies' lengths cannot be read"
		}
		if n := g.Result.Counts.Exchanges + g.Result.Drained; lengths.Count() != n {
			return fmt.Sprintf("%s recorded %d lengths of %d replies", g.Name, lengths.Count(), n)
		}
	}
	return ""
}
