package trial

import (
	"fmt"

	"netdyno/internal/record"
)

// checkHistograms demands one service time per exchange that completed, in
// the window or drained after it.
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
	return ""
}

// checkSlots demands of each client that its slots had the time that its exchanges
// took. A slot's exchanges do not overlap; the first may have begun before the
// window by its whole service time, and draining took no longer than what was
// drained last had waited.
func checkSlots(e *audit) string {
	for _, g := range e.generators {
		service, ok := e.service(g)
		if !ok || g.Setup == nil {
			continue
		}
		before := float64(service.MaxNs()) / 1e9
		seconds := before + windowOf(g)
		if g.Result.Drained > 0 {
			after := before
			if responses, open := e.window.HistogramOf(g, record.Response); open {
				after = float64(responses.MaxNs()) / 1e9
			}
			seconds += after
		}
		busy := service.MeanNs() / 1e9 * float64(service.Count()) / seconds
		if slots := Slots(g.Setup.Load); busy > slots*(1+littleSlack) {
			return fmt.Sprintf("by Little's law the service times of %s put %.4g exchanges in flight at once, in %.4g slots", g.Name, busy, slots)
		}
	}
	return ""
}
