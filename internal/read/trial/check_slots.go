package trial

import (
	"fmt"
	"math"

	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// checkSlots demands of each client that its slots had the time that its exchanges
// took, and of a closed loop that the exchanges took all of the slots' time.
func checkSlots(e *audit) string {
	for _, g := range e.generators {
		service, ok := e.service(g)
		if !ok || g.Setup == nil {
			continue
		}
		if why := overfull(e, g, service); why != "" {
			return why
		}
		if in, done := g.Result.Inside, float64(g.Result.Counts.Exchanges); in != nil && math.Abs(in.Cycles-done) > 2*g.Setup.Load.Slots() {
			return fmt.Sprintf("%s completed %.0f exchanges in its window and says that %.4g fell inside", g.Name, done, in.Cycles)
		}
		if why := unlike(e, g, service); why != "" {
			return why
		}
	}
	return ""
}

// overfull says that a client's service times do not fit into its slots. A slot's
// exchanges do not overlap; the first may have begun before the window by its whole
// service time, and draining took no longer than what was drained last had waited.
func overfull(e *audit, g *record.Worker, service *hist.Histogram) string {
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
	if slots := g.Setup.Load.Slots(); busy > slots*(1+littleSlack) {
		return fmt.Sprintf("by Little's law the service times of %s put %.4g exchanges in flight at once, in %.4g slots", g.Name, busy, slots)
	}
	return ""
}

// unlike says that a closed loop's rate and times do not belong together: a slot is in an
// exchange or between two, so the times of all exchanges, whole ones, cover what the slots
// had in the window, but for what was left unfinished.
func unlike(e *audit, g *record.Worker, service *hist.Histogram) string {
	used, ok := metric.SlotsInUse(e.window, g)
	if !ok || Foreign(g) || failed(e) > 0 { // the times of those that failed are in no histogram
		return ""
	}
	slots := g.Setup.Load.Slots()
	used *= float64(service.Count()) / g.Result.Inside.Cycles         // of whole exchanges
	if !(used < slots*(1-littleSlack)-float64(g.Result.Unfinished)) { // none where nothing was completed
		return ""
	}
	return fmt.Sprintf("by Little's law the rate and the times of %s keep %.4g slots in use, and it has %.4g: its rate is not that of its times", g.Name, used, slots)
}

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
	if want > 0 && !ok {
		return "a histogram of service times cannot be read"
	}
	if want > 0 && float64(h.Count()) != want {
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
