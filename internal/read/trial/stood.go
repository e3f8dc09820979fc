package trial

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

const (
	stoodSeconds = 0.025 // more than a beat of the shortest windows
	stoodFelt    = 0.5   // of a standstill: an exchange under way takes as long, or one that falls due is sent as late
)

// stood returns when workers did not run inside the window, as their meters saw: the
// meter itself did not wake, nor did it wait for a CPU, or a signal held a process.
// Unlike progress, this tells short times, and whose they were. A client's exchanges
// must have felt it: a meter that stands still alone disturbs nobody.
func stood(e *audit) []Stall {
	var all []Stall
	for i := range e.window.Record.Workers {
		w := &e.window.Record.Workers[i]
		span, ok := e.window.Span(w)
		if !ok || span.From.Meter == nil || span.To.Meter == nil || w.AtResult == nil || w.AtResult.Beat == nil {
			continue
		}
		opened := span.From.Meter.AtNs
		length := float64(span.To.Meter.AtNs-opened) / 1e9
		least := max(stallShare*length, stoodSeconds)
		for _, s := range w.AtResult.Beat.Stood {
			stall := Stall{FromS: max(float64(s.FromNs-opened)/1e9, 0), ToS: min(float64(s.ToNs-opened)/1e9, length), Of: whoStood(w, s)}
			if seconds := stall.ToS - stall.FromS; seconds >= least && felt(e, max(least, stoodFelt*seconds)) {
				all = append(all, stall)
			}
		}
	}
	return all
}

// felt tells whether an exchange of some client took so long, or was sent so late: a
// meter knows when a standstill ended, and when it began only to a beat. True where a
// client does not tell its times.
func felt(e *audit, seconds float64) bool {
	for _, g := range e.generators {
		service, timed := e.service(g)
		if !timed {
			return true
		}
		longest := service.MaxNs()
		if lag, ok := e.window.HistogramOf(g, record.Lag); ok {
			longest = max(longest, lag.MaxNs())
		}
		if float64(longest)/1e9 >= seconds {
			return true
		}
	}
	return false
}

// whoStood names what did not run.
func whoStood(w *record.Worker, s contract.Standstill) string {
	switch {
	case s.Held == nil:
		return w.Name + " and its meter did not run"
	case s.Held.Traced:
		return fmt.Sprintf("a debugger held %s (process %d) of %s", s.Held.Name, s.Held.PID, w.Name)
	}
	return fmt.Sprintf("a signal held %s (process %d) of %s", s.Held.Name, s.Held.PID, w.Name)
}
