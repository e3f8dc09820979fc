package metric

import "netdyno/internal/record"

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

// resultSum sums one count of the clients' results, each divided by its length.
func resultSum(w *record.Window, count func(*record.Worker) int64, length clientLength) (float64, bool) {
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

// resultRate sums one count of the clients' results, per second of each
// client's own window.
func resultRate(w *record.Window, count func(*record.Worker) int64) (float64, bool) {
	return resultSum(w, count, (*record.Worker).ResultSeconds)
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
	exchanges, known := resultSum(w, exchangesOf, workLength(w))
	return sum / exchanges, ok && known && exchanges > 0
}

func exchangesOf(g *record.Worker) int64 { return g.Result.Counts.Exchanges }
