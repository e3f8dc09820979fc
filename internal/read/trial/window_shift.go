package trial

import (
	"math"

	"netdyno/internal/record"
)

// maxShift bounds the share of a client's work that is excused by the ends'
// windows lying apart.
const maxShift = 0.25

// brisk is the percentile of the service times that a slot takes when nothing
// delays it.
const brisk = 0.05

// shift returns the share of a client's work that may lie outside the servers'
// window, or theirs outside its own: what may pass while the windows differ in
// length (where one clock read both: while their edges differ), and while
// readings were late. A fixed amount of work has no such share.
func shift(e *audit, g *record.Worker, servers []record.Span) float64 {
	length := windowOf(g)
	if e.amount() || !(length > 0) {
		return 0
	}
	late, apart := 0.0, 0.0
	span, read := e.window.Span(g)
	if read {
		late = lateness(span)
	}
	for _, s := range servers {
		if seconds, ok := s.Seconds(); ok {
			edges := math.Abs(seconds - length)
			if read {
				edges = max(edges, displaced(span, s))
			}
			apart = max(apart, edges+lateness(s))
		}
	}
	return min(passes(e, g, apart+late), maxShift)
}

// passes returns the share of a client's work that may pass in some seconds. On
// a busy host work comes in bursts, so the mean rate is no bound. The bound is all
// slots coming round as fast as they do at their best; in an open loop it is what
// falls due in that time and what had waited longest.
func passes(e *audit, g *record.Worker, seconds float64) float64 {
	length := windowOf(g)
	even := seconds / length
	service, known := e.service(g)
	if !known || g.Setup == nil {
		return even
	}
	least, ok := service.Percentile(brisk)
	if !ok || least <= 0 {
		return even
	}
	burst := g.Setup.Load.Slots() * seconds * 1e9 / float64(least) / max(float64(g.Result.Counts.Exchanges), 1)
	if responses, open := e.window.HistogramOf(g, record.Response); open {
		burst = min(burst, (seconds+float64(responses.MaxNs())/1e9)/length)
	}
	return max(even, burst)
}

// displaced returns how many seconds lie between the readings of two workers'
// meters, both edges together; 0 where the meters share no clock.
func displaced(a, b record.Span) float64 {
	from, to, _, ok := a.Metered()
	otherFrom, otherTo, _, known := b.Metered()
	if !ok || !known || !a.SharesClock(b) {
		return 0
	}
	return (math.Abs(float64(from.AtNs-otherFrom.AtNs)) + math.Abs(float64(to.AtNs-otherTo.AtNs))) / 1e9
}

// lateness returns how many seconds a span's readings followed their marks.
func lateness(s record.Span) float64 {
	from, to, _, ok := s.Metered()
	if !ok {
		return 0
	}
	return (max(float64(from.SkewNs), 0) + max(float64(to.SkewNs), 0)) / 1e9
}
