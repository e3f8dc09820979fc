package course

import (
	"fmt"
	"math"

	"netdyno/internal/hist"
	"netdyno/internal/quantity"
)

// Modes says that replies take one of two times, with hardly any between.
type Modes struct {
	Share  float64 `json:"share"`   // of the slower ones
	SlowS  float64 `json:"slow_s"`  // their median
	UsualS float64 `json:"usual_s"` // that of the others
}

// What makes two times.
const (
	apart      = 3.0   // by as much: between lies a gap of this factor
	inGap      = 0.05  // of the slower ones, at most, that lie there
	leastShare = 0.005 // of the slower ones
	mostShare  = 0.5
	leastSlow  = 10
	leastSlowS = 0.01 // what is faster may be a program that waited for a CPU
	wide       = 3.0  // the 90th percentile of the slower ones ÷ their 10th: waiting for the same event gives all times up to it
)

// modesOf looks for the widest gap in the service times of all turns: who waits for a slot
// that a slow request has taken, waits for any time. Both halves of the load must
// have it: two times one after the other are a change.
func modesOf(l Load) *Modes {
	all := merged(l.Turns, service)
	n := float64(all.Count())
	if n == 0 {
		return nil
	}
	from, to := gap(all)
	if from == 0 {
		return nil
	}
	slow, usual := hist.New(), hist.New()
	for ns, count := range all.Steps().All() {
		if ns > from {
			slow.Record(ns, count)
		} else {
			usual.Record(ns, count)
		}
	}
	late := int64(0)
	for _, t := range l.Turns {
		late += t.Late
	}
	if 2*late > slow.Count() { // what is never answered takes no time
		return nil
	}
	at := slow.Quantiles([]float64{0.1, 0.5, 0.9})
	m := &Modes{Share: float64(slow.Count()) / n, SlowS: float64(at[1]) / 1e9, UsualS: float64(usual.Quantiles([]float64{0.5})[0]) / 1e9}
	if slow.Count() < leastSlow || m.SlowS < leastSlowS || float64(at[2]) > wide*float64(at[0]) {
		return nil
	}
	half := len(l.Turns) / 2
	for _, turns := range [][]Turn{l.Turns[:half], l.Turns[half:]} {
		h := merged(turns, service)
		if beyond, _ := h.Steps().Within(to, math.MaxInt64); float64(beyond) < m.Share/3*float64(h.Count()) {
			return nil
		}
	}
	return m
}

// gap returns the widest gap between times: the last before it and where it ends; 0 where
// there is none.
func gap(h *hist.Histogram) (from, to int64) {
	var at, counts []int64
	for ns, n := range h.Steps().All() {
		at, counts = append(at, ns), append(counts, n)
	}
	n, below, widest := float64(h.Count()), int64(0), apart
	for i := range at {
		below += counts[i]
		slow := float64(h.Count() - below)
		if slow < leastShare*n || slow > mostShare*n {
			continue
		}
		skipped, next := int64(0), i+1 // those that lie in the gap
		for next < len(at) && float64(skipped+counts[next]) <= inGap*slow {
			skipped += counts[next]
			next++
		}
		if next < len(at) && float64(at[next]) >= widest*float64(max(at[i], 1)) {
			from, to, widest = at[i], at[next], float64(at[next])/float64(max(at[i], 1))
		}
	}
	return from, to
}

// Words are a sentence about requests to a server.
func (m *Modes) Words(server string) string {
	return fmt.Sprintf("%s answers %.2g %% of the requests in %s, the others in %s.", server, 100*m.Share, seconds(m.SlowS), seconds(m.UsualS))
}

func seconds(s float64) string { return quantity.FormatMicroseconds(s * 1e6) }
