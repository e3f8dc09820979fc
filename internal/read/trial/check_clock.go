package trial

import (
	"fmt"
	"math"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// How far the clocks of a trial may disagree about its window (specification §2.2): by
// how much a busy host makes a worker late, and a share of long windows; of short
// ones a quarter at most.
const (
	windowShare    = 0.05
	windowLateness = 0.1 // seconds
	windowMost     = 0.25
)

// tolerance is by how many seconds an edge may be late, or a window differ, that
// was to last so long.
func tolerance(window float64) float64 {
	return max(windowShare*window, min(windowLateness, windowMost*window))
}

// checkClocks demands that a window is as long as declared by every clock that timed
// it, and that no worker's began or ended long after the others': a rate over another
// window than the trial's measures something else.
func checkClocks(e *audit) string {
	asked, ok := e.asked()
	if !ok || e.window.Record.Turn { // of a load that goes on an edge that is late ends one turn and begins the next
		return ""
	}
	if sent, ok := e.betweenMarks(); ok && disagree(sent, asked) {
		return fmt.Sprintf("the window lasted %s between the marks by the bench's clock, but %s was declared", inSeconds(sent), inSeconds(asked))
	}
	for w := range e.workers() {
		if w.Elsewhere() || w.Ready != nil && w.Ready.Elsewhere {
			continue // it counts nothing, and what its CPU time is divided by is its own window
		}
		for _, c := range lengths(e, w) {
			if disagree(c.seconds, asked) {
				return fmt.Sprintf("the window of %s lasted %s by %s, but %s was declared", w.Name, inSeconds(c.seconds), c.clock, inSeconds(asked))
			}
		}
		if why := late(w, asked); why != "" {
			return why
		}
	}
	return overlap(e, asked)
}

func disagree(seconds, asked float64) bool { return math.Abs(seconds-asked) > tolerance(asked) }

// length is what one clock says of a worker's window.
type length struct {
	seconds float64
	clock   string
}

// lengths lists what every clock says that timed a worker's window.
func lengths(e *audit, w *record.Worker) []length {
	var all []length
	if !w.Role.Serves() && w.Result != nil {
		all = append(all, length{windowOf(w), "the result's clock"})
	}
	s, ok := e.window.Span(w)
	if !ok {
		return all
	}
	if seconds, ok := s.Seconds(); ok {
		all = append(all, length{seconds, "its own clock"})
	}
	if _, _, seconds, ok := s.Metered(); ok {
		all = append(all, length{seconds, "its meter's clock"})
	}
	return all
}

// late says at which edge a worker was read long after the mark. Both edges late
// by as much leave the length as it was, and displace the window.
func late(w *record.Worker, asked float64) string {
	for _, edge := range []struct {
		name string
		at   *record.Edge
	}{{"opening", w.Open}, {"closing", w.Close}} {
		if edge.at == nil {
			continue
		}
		if seconds := behindMark(w, edge.at); seconds > tolerance(asked) {
			return fmt.Sprintf("%s answered the %s mark %s after it was sent: its window is not the trial's", w.Name, edge.name, inSeconds(seconds))
		}
	}
	return ""
}

// behindMark returns how many seconds after a mark a worker was read: by its
// meter, and by the bench, less what an answer took while nothing was asked of
// the worker, which is the way there and back.
func behindMark(w *record.Worker, edge *record.Edge) float64 {
	ns := int64(0)
	if edge.Meter != nil {
		ns = edge.Meter.SkewNs
	}
	if w.Idle != nil && w.Idle.AnswerNs > 0 && edge.AnswerNs > 0 {
		ns = max(ns, edge.AnswerNs-w.Idle.AnswerNs)
	}
	return float64(ns) / 1e9
}

// overlap demands that the windows of workers on one host, whose meters share a
// clock, overlap.
func overlap(e *audit, asked float64) string {
	var spans []record.Span
	for w := range e.workers() {
		if s, ok := e.window.Span(w); ok && !w.Elsewhere() {
			spans = append(spans, s)
		}
	}
	for i, a := range spans {
		for _, b := range spans[:i] {
			from, to, _, ok := a.Metered()
			otherFrom, otherTo, _, known := b.Metered()
			if !ok || !known || !a.SharesClock(b) {
				continue
			}
			shared := float64(min(to.AtNs, otherTo.AtNs)-max(from.AtNs, otherFrom.AtNs)) / 1e9
			if asked-shared > 2*tolerance(asked) {
				return fmt.Sprintf("the windows of %s and %s overlap for only %s of %s", b.Worker.Name, a.Worker.Name, inSeconds(max(shared, 0)), inSeconds(asked))
			}
		}
	}
	return ""
}

func inSeconds(seconds float64) string {
	return quantity.FormatDuration(time.Duration(seconds * 1e9).Round(100 * time.Microsecond))
}
