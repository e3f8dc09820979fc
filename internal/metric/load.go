package metric

import (
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// loadMetrics are about the work done.
func loadMetrics() []Metric {
	return []Metric{
		{
			Name: ExchangesPerS, Unit: "1/s", Better: Higher, Label: "rate", Doc: "exchange rate",
			Formula: "exchanges in the window ÷ its length by the client's clock, summed over clients; one that spans an edge counts by its share inside, of an open loop from its send, of a closed loop from its slot's completion before",
			in:      exchangeRate,
		},
		{
			Name: Goodput, Unit: "B/s", Better: Higher, Label: "goodput", Doc: "goodput",
			Formula: "payload bytes received ÷ window (RFC 2647), summed over clients; over servers where the stream or the larger message goes up; over both where streams go both ways",
			in:      goodput,
		},
		{
			Name: OfferedShare, Unit: "share", Better: Higher, Label: "achieved ÷ offered", Doc: "achieved share of the offered rate",
			Formula: "exchanges in the window ÷ those that fell due in it, all clients together, gaps of a slot that span an edge by their share in both; open loop only",
			in:      offeredShare,
		},
		{
			Name: "slots_in_use", Unit: "1", Suffix: "slots", Label: "slots in use", Doc: "number of slots in use",
			Formula: "by Little's law exchanges_per_s × mean time from a slot's completion to its next one, summed over clients; closed loop only, where clients tell that time",
			in: func(w *record.Window) (float64, bool) {
				return sumOf(w, func(g *record.Worker) (float64, bool) { return SlotsInUse(w, g) })
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

func exchangeRate(w *record.Window) (float64, bool) {
	return exchangesInside(w, rated(w), (*record.Worker).ResultSeconds)
}

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
	achieved, ok := exchangesInside(w, cycled, (*record.Worker).ResultSeconds)
	if due, told := DueRate(w); told {
		offered = due
	}
	return achieved / offered, open && ok
}

// DueRate returns the exchanges per second that fell due in the clients' windows, which
// of random schedules is not the rate that was asked for; false when a client does not
// tell.
func DueRate(w *record.Window) (float64, bool) {
	return sumOf(w, func(g *record.Worker) (float64, bool) {
		if g.Result == nil || g.Result.Inside == nil || !(g.Result.Inside.Due > 0) {
			return 0, false
		}
		seconds, ok := g.ResultSeconds()
		return g.Result.Inside.Due / seconds, ok
	})
}

// sumOf sums a figure over the clients; false where one client has none.
func sumOf(w *record.Window, of func(*record.Worker) (float64, bool)) (float64, bool) {
	sum := 0.0
	for _, g := range w.Generators() {
		one, ok := of(g)
		if !ok {
			return 0, false
		}
		sum += one
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

func goodput(w *record.Window) (float64, bool) {
	return delivered(w, cycled, (*record.Worker).ResultSeconds, record.Span.Seconds)
}

// delivered sums the payload bytes that arrived, each count divided by its
// length: at the end or the ends that the exchange is about.
func delivered(w *record.Window, share func(*contract.Inside) float64, client clientLength, server spanLength) (float64, bool) {
	up, down, ok := w.Directions()
	sum := 0.0
	if ok && down {
		sum, ok = insideSum(w, receivedOf, share, client)
	}
	if !ok || !up {
		return sum, ok
	}
	atServer, ok := atServers(w, server)
	if uncounted(w) || wholeMessages(w) {
		// A reply that came proves that its request arrived. The server's own count
		// of whole messages is off, at its marks, by the messages under way.
		atServer, ok = insideSum(w, sentOf, share, client)
	}
	return sum + atServer, ok
}

// wholeMessages reports whether every client tells what fell inside its window of
// messages that do not stream.
func wholeMessages(w *record.Window) bool {
	for _, g := range w.Generators() {
		if g.Result == nil || g.Result.Inside == nil || g.Setup == nil || g.Setup.Exchange.Stream != "" {
			return false
		}
	}
	return true
}

// uncounted reports whether a server stands for a program that cannot count, or
// is not part of the trial.
func uncounted(w *record.Window) bool {
	return len(w.Record.Away()) > 0 || slices.ContainsFunc(w.Record.Workers, func(worker record.Worker) bool {
		return worker.Role == contract.Server && worker.Ready != nil && worker.Ready.Foreign
	})
}

// atServers sums what arrived at the servers, each count divided by its length;
// false when one cannot count.
func atServers(w *record.Window, length spanLength) (float64, bool) {
	servers, ok := w.Spans(contract.Server)
	if !ok || uncounted(w) {
		return 0, false
	}
	return sumRate(servers, func(s record.Span) (from, to int64, ok bool) {
		return s.From.Reading.Counts.ReceivedBytes, s.To.Reading.Counts.ReceivedBytes, true
	}, length)
}

// Arriving returns the payload bytes that arrived per second at the servers or
// at the clients, whatever the exchange is about; false when it is not known.
func Arriving(w *record.Window, at contract.Role) (float64, bool) {
	if at != contract.Server {
		return resultRate(w, receivedOf)
	}
	return atServers(w, record.Span.Seconds)
}

// arrivalMetrics are about what an open loop sent as it was declared, and what
// any client was left with at the end (specification §3.3, §3.5).
func arrivalMetrics() []Metric {
	return []Metric{
		{
			Name: ArrivalGapCV, Unit: "1", Suffix: "sd ÷ mean", Label: "variation of the gaps", Doc: "coefficient of variation of the gaps between sends",
			Formula: "standard deviation ÷ mean of the gaps between one client's sends; of several clients the one farthest from the declared arrivals (constant 0, Poisson 1, drawn as declared); open loop only",
			in: func(w *record.Window) (float64, bool) {
				a, ok := w.Arrivals()
				return a.CV, ok
			},
		},
		{
			Name: Unfinished, Unit: "1", Suffix: "exchanges", Better: Lower, Label: "left unfinished", Doc: "number of exchanges left unfinished",
			Formula: "exchanges due in the window that were not complete when draining ended, those never sent included, summed over clients",
			in: func(w *record.Window) (float64, bool) {
				u, ok := w.Unfinished()
				return float64(u.Exchanges), ok
			},
		},
		{
			Name: UnfinishedAge, Unit: "µs", Better: Lower, Label: "oldest unfinished", Doc: "age of the oldest unfinished exchange",
			Formula: "end of the draining − the moment when the oldest unfinished exchange was due (closed loop: sent); absent where none was left",
			in: func(w *record.Window) (float64, bool) {
				u, ok := w.Unfinished()
				if !ok || u.Ages == nil {
					return 0, false
				}
				return float64(u.Ages.MaxNs()) / nsPerUs, true
			},
		},
	}
}
