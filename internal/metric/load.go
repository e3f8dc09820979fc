package metric

import "netdyno/internal/record"

// loadMetrics are about the work done.
func loadMetrics() []Metric {
	return []Metric{
		{
			Name: ExchangesPerS, Unit: "1/s", Better: Higher, Label: "rate", Doc: "exchange rate",
			Formula: "exchanges in the window ÷ its length by the client's clock, summed over clients; one that spans an edge counts by the share inside of the time since its slot's completion before",
			in:      exchangeRate,
		},
		{
			Name: Goodput, Unit: "B/s", Better: Higher, Label: "goodput", Doc: "goodput",
			Formula: "payload bytes received ÷ window (RFC 2647), summed over clients; over servers where the stream or the larger message goes up; over both where streams go both ways",
			in:      goodput,
		},
		{
			Name: OfferedShare, Unit: "share", Better: Higher, Label: "achieved ÷ offered", Doc: "achieved share of the offered rate",
			Formula: "exchanges in the window ÷ those that fell due in it, all clients together; open loop only",
			in:      offeredShare,
		},
		{
			Name: "slots_in_use", Unit: "1", Suffix: "slots", Label: "slots in use", Doc: "number of slots in use",
			Formula: "by Little's law exchanges_per_s × mean time from a slot's completion to its next one, summed over clients; closed loop only, where clients tell that time",
			in: func(w *record.Window) (float64, bool) {
				sum := 0.0
				for _, g := range w.Generators() {
					used, ok := SlotsInUse(w, g)
					if !ok {
						return 0, false
					}
					sum += used
				}
				return sum, sum > 0
			},
		},
		{
			Name: ErrorShare, Unit: "share", Better: Lower, Label: "errors", Doc: "share of failed exchanges",
			Formula: "failed exchanges ÷ (completed + failed exchanges), all clients together",
			in:      errorShare,
		},
		{
			Name: WorkS, Unit: "s", Better: Lower, Label: "time for the work", Doc: "time for the fixed work",
			Formula: "longest window of the clients; only where the amount of work is fixed instead of the window",
			in:      (*record.Window).WorkSeconds,
		},
	}
}

// Exchanges returns how many were completed in the window, all clients together;
// false when one left no result.
func Exchanges(w *record.Window) (int64, bool) {
	n, ok := resultSum(w, exchangesOf, func(*record.Worker) (float64, bool) { return 1, true })
	return int64(n), ok
}

func exchangeRate(w *record.Window) (float64, bool) { return resultRate(w, exchangesOf) }

// SlotsInUse returns how many of a client's slots its exchanges kept in use, by its rate
// and the mean time that a slot took for an exchange, the wait before it included (J.
// Little, A proof for the queuing formula L = λW, 1961). False where the work was fixed
// or scheduled, and where the client does not tell what fell inside its window.
func SlotsInUse(w *record.Window, g *record.Worker) (float64, bool) {
	if g.Result == nil || g.Result.Inside == nil || g.Setup == nil || g.Setup.Load.Rate > 0 || g.Setup.Load.Amount > 0 {
		return 0, false
	}
	times, ok := w.HistogramOf(g, record.Service)
	seconds, known := g.ResultSeconds()
	if !ok || !known {
		return 0, false
	}
	mean := times.MeanNs() + float64(g.Result.Inside.IdleNs)/float64(times.Count())
	return g.Result.Inside.Cycles / seconds * mean / nsPerS, true
}

func offeredShare(w *record.Window) (float64, bool) {
	offered, open := w.OfferedRate()
	achieved, ok := exchangeRate(w)
	if due, told := dueRate(w); told {
		offered = due
	}
	return achieved / offered, open && ok
}

// dueRate returns the exchanges per second that fell due in the clients' windows, which
// of random schedules is not the rate that was asked for; false when a client does not
// tell.
func dueRate(w *record.Window) (float64, bool) {
	sum := 0.0
	for _, g := range w.Generators() {
		if g.Result == nil || g.Result.Inside == nil || !(g.Result.Inside.Due > 0) {
			return 0, false
		}
		seconds, ok := g.ResultSeconds()
		if !ok {
			return 0, false
		}
		sum += g.Result.Inside.Due / seconds
	}
	return sum, sum > 0
}

func errorShare(w *record.Window) (float64, bool) {
	failed, all := 0.0, 0.0
	generators := w.Generators()
	for _, g := range generators {
		if g.Result == nil || g.Result.Counts.Exchanges < 0 {
			return 0, false
		}
		all += float64(g.Result.Counts.Exchanges)
		for _, n := range g.Result.Counts.Errors {
			failed += float64(n)
		}
	}
	all += failed
	return failed / all, len(generators) > 0 && all > 0 && failed >= 0
}
