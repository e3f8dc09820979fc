package metric

import (
	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Unit conversions. GB is 1e9 payload bytes delivered.
const (
	nsPerUs    = 1e3
	nsPerS     = 1e9
	usPerS     = 1e6
	bytesPerGB = 1e9
)

// A spanLength is what a span's growth is divided by; a clientLength the same
// for a client's result. False when it is not known.
type (
	spanLength   func(record.Span) (float64, bool)
	clientLength func(*record.Worker) (float64, bool)
)

// once divides a sum by nothing.
func once(record.Span) (float64, bool) { return 1, true }

// A clientCount is one count of a client's result.
type clientCount func(*record.Worker) int64

// resultSum sums one count of the clients' results, each divided by its length.
func resultSum(w *record.Window, count clientCount, length clientLength) (float64, bool) {
	sum := 0.0
	generators := w.Generators()
	for _, g := range generators {
		if g.Result == nil || count(g) < 0 {
			return 0, false
		}
		l, ok := length(g)
		if !ok {
			return 0, false
		}
		sum += float64(count(g)) / l
	}
	return sum, len(generators) > 0
}

// insideSum is resultSum of what fell inside the windows: an exchange that spans an
// edge counts, with its bytes, by a share of it. Where a client does not tell, and of
// a fixed amount of work, exchanges count whole where they completed.
func insideSum(w *record.Window, count clientCount, share func(*contract.Inside) float64, length clientLength) (float64, bool) {
	_, fixed := w.WorkSeconds()
	return resultSum(w, count, func(g *record.Worker) (float64, bool) {
		l, ok := length(g)
		if in := g.Result.Inside; ok && in != nil && !fixed && g.Result.Counts.Exchanges > 0 {
			if !(share(in) > 0) {
				return 0, false
			}
			l *= float64(g.Result.Counts.Exchanges) / share(in)
		}
		return l, ok
	})
}

// cycled is the share of an exchange counted from its slot's completion before: the rate
// of a closed loop, whose slots never idle. served is the share counted from its send: what
// an exchange cost, and the rate of an open loop, whose idle slots have no exchange.
func cycled(in *contract.Inside) float64 { return in.Cycles }
func served(in *contract.Inside) float64 { return in.Exchanges }

// resultRate sums one count of the clients' results, per second of each
// client's own window.
func resultRate(w *record.Window, count clientCount) (float64, bool) {
	return insideSum(w, count, rated(w), (*record.Worker).ResultSeconds)
}

// rated is the share by which exchanges make a rate.
func rated(w *record.Window) func(*contract.Inside) float64 {
	if _, open := w.OfferedRate(); open {
		return served
	}
	return cycled
}

// exchangesInside is insideSum of the exchanges, of which parts may lie inside a window
// in which none was completed.
func exchangesInside(w *record.Window, share func(*contract.Inside) float64, length clientLength) (float64, bool) {
	_, fixed := w.WorkSeconds()
	sum := 0.0
	generators := w.Generators()
	for _, g := range generators {
		if g.Result == nil || g.Result.Counts.Exchanges < 0 {
			return 0, false
		}
		l, ok := length(g)
		n := float64(g.Result.Counts.Exchanges)
		if in := g.Result.Inside; in != nil && !fixed {
			n = share(in)
		}
		if !ok || !(n >= 0) {
			return 0, false
		}
		sum += n / l
	}
	return sum, len(generators) > 0
}

// sumRate sums a cumulative counter's growth over spans, each divided by its
// length; false when one counter is absent or ran backwards.
func sumRate(spans []record.Span, counter func(record.Span) (from, to int64, ok bool), length spanLength) (float64, bool) {
	sum := 0.0
	for _, s := range spans {
		from, to, ok := counter(s)
		if !ok || to < from {
			return 0, false
		}
		l, ok := length(s)
		if !ok {
			return 0, false
		}
		sum += record.Growth(from, to) / l
	}
	return sum, true
}

// processRate is sumRate of a counter of the spans' process trees.
func processRate(spans []record.Span, of func(contract.Process) int64, length spanLength) (float64, bool) {
	return sumRate(spans, func(s record.Span) (from, to int64, ok bool) {
		a, b, _, ok := s.Metered()
		if !ok {
			return 0, 0, false
		}
		return of(a.Process), of(b.Process), true
	}, length)
}

func meteredSeconds(s record.Span) (float64, bool) {
	_, _, length, ok := s.Metered()
	return length, ok
}

// cores sums the CPU seconds per second of the spans' process trees.
func cores(spans []record.Span) (float64, bool) {
	sum := 0.0
	for _, s := range spans {
		c, ok := s.Cores()
		if !ok {
			return 0, false
		}
		sum += c
	}
	return sum, true
}

// costLength returns the divisor that makes a worker's counter comparable with
// the clients' work: its own seconds, so that windows which differ a little at
// the two ends cancel. A fixed amount of work has no common window, but every
// worker counted all of it: there totals are compared, divided by nothing.
func costLength(w *record.Window, length spanLength) spanLength {
	if _, fixed := w.WorkSeconds(); !fixed {
		return length
	}
	return func(s record.Span) (float64, bool) {
		_, ok := length(s)
		return 1, ok
	}
}

// workLength does the same for the clients' own counts.
func workLength(w *record.Window) clientLength {
	_, fixed := w.WorkSeconds()
	return func(g *record.Worker) (float64, bool) {
		length, ok := g.ResultSeconds()
		if fixed {
			length = 1
		}
		return length, ok
	}
}

// perExchange divides a sum that was made with costLength by the exchanges
// counted with workLength.
func perExchange(w *record.Window, sum float64, ok bool) (float64, bool) {
	exchanges, known := exchangesInside(w, served, workLength(w))
	return sum / exchanges, ok && known && exchanges > 0
}

func exchangesOf(g *record.Worker) int64 { return g.Result.Counts.Exchanges }
func receivedOf(g *record.Worker) int64  { return g.Result.Counts.ReceivedBytes }
func sentOf(g *record.Worker) int64      { return g.Result.Counts.SentBytes }
