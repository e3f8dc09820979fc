package metric

import (
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

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
		// What a server has answered it has received. One that counts whole messages
		// is off, at its marks, by those that were under way.
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
