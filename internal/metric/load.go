package metric

import "netdyno/internal/record"

// loadMetrics are about the work done.
func loadMetrics() []Metric {
	return []Metric{
		{
			Name: "exchanges_per_s", Unit: "1/s", Better: Higher, Label: "rate", Doc: "exchange rate",
			Formula: "exchanges completed in the window ÷ its length by the client's clock, summed over clients",
			in:      exchangeRate,
		},
		{
			Name: "goodput_bytes_per_s", Unit: "B/s", Better: Higher, Label: "goodput", Doc: "goodput",
			Formula: "payload bytes received ÷ window (RFC 2647), summed over clients; over servers where the stream or the larger message goes up; over both where streams go both ways",
			in:      goodput,
		},
		{
			Name: "offered_share", Unit: "share", Better: Higher, Label: "achieved ÷ offered", Doc: "achieved share of the offered rate",
			Formula: "exchanges_per_s ÷ the rate that the clients were told to offer; open loop only",
			in:      offeredShare,
		},
		{
			Name: "error_share", Unit: "share", Better: Lower, Label: "errors", Doc: "share of failed exchanges",
			Formula: "failed exchanges ÷ (completed + failed exchanges), all clients together",
			in:      errorShare,
		},
		{
			Name: "work_s", Unit: "s", Better: Lower, Label: "time for the work", Doc: "time for the fixed work",
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

func offeredShare(w *record.Window) (float64, bool) {
	offered, open := w.OfferedRate()
	achieved, ok := exchangeRate(w)
	return achieved / offered, open && ok
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
