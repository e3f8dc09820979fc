package trial

import (
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// Partial tells whether a valid trial lacks the figures that a standstill or a
// backlog falsifies.
func (t Trial) Partial() bool { return t.Status == Valid && falsified(t.Flags) }

func falsified(flags []string) bool {
	return slices.Contains(flags, Stalled) || slices.Contains(flags, Backlog)
}

// withoutRates takes from a trial that stood still, or began with a backlog, the
// figures that this falsifies: rates, costs, and times from the send. An open
// loop keeps its response times, which contain the standstill as they must, what
// was left unfinished, and memory. A closed loop keeps nothing: it is invalid.
func withoutRates(e *audit, t *Trial, why string) {
	if !e.open || e.amount() {
		t.Status, t.Reason = StatusInvalid, why
		return
	}
	for name := range t.Values {
		if !OutlivesStall(name) {
			delete(t.Values, name)
			delete(t.Moved, name)
		}
	}
	t.CPU, t.Limit, t.LimitProof = nil, Unknown, why
}

// OutlivesStall tells whether a metric holds of a trial that stood still.
func OutlivesStall(name string) bool {
	if strings.HasPrefix(name, record.Response+"_") {
		return true
	}
	_, of, atEnd := strings.Cut(name, ".")
	if atEnd { // what an end holds at an edge: memory, threads, goroutines
		return strings.HasSuffix(of, "_bytes") && !strings.HasPrefix(of, "tcp_") || of == metric.Threads || of == metric.Goroutines
	}
	return slices.Contains([]string{metric.LagP99, metric.ArrivalGapCV, metric.Unfinished, metric.UnfinishedAge, metric.ErrorShare}, name)
}
