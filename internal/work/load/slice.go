package load

import (
	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// Slicing is a ResultSource that can tell the times of the exchanges that completed
// lately. Only the worker's control goroutine calls it.
type Slicing interface {
	// Slice returns the times of what completed since the last call, in the window
	// or draining; nil when nothing did.
	Slice() *contract.TickTimes
}

// Slice implements Slicing. The slots' path is untouched: their histograms are read
// while they are written to.
func (l *Load) Slice() *contract.TickTimes {
	if l.slicer == nil {
		var recorders []*hist.Recorder
		for _, c := range l.window {
			if c.times.response != nil {
				recorders = append(recorders, c.times.response)
			} else {
				recorders = append(recorders, c.times.service)
			}
		}
		l.slicer = hist.NewSlicer(recorders)
	}
	h := l.slicer.Next()
	if h.Count() == 0 {
		return nil
	}
	t := &contract.TickTimes{Count: h.Count(), MaxNs: h.MaxNs()}
	for i, ns := range h.Percentiles([]float64{0.5, 0.99}) {
		*[]*int64{&t.P50Ns, &t.P99Ns}[i] = ns
	}
	return t
}
