package metric

import (
	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// startMetrics are how long processes take to be of use: of a runtime that is loaded and
// compiled as it starts, seconds. A server that ran before has none.
func startMetrics() []Metric {
	var all []Metric
	for _, m := range []struct {
		name, label, doc, formula string
		of                        func(contract.StartUp) int64
	}{
		{
			StartUp, "start-up", "start-up time",
			"time from the start of the process to its first word, and from its setup to ready: a server listens, a client is connected; the slowest of several processes",
			func(s contract.StartUp) int64 { return s.HelloNs + s.SetupNs },
		},
		{
			Hello, "time to hello", "time to the first word",
			"time from the start of the process to its first word (hello); the slowest of several processes",
			func(s contract.StartUp) int64 { return s.HelloNs },
		},
	} {
		all = append(all, bothEnds(Metric{Name: m.name, Unit: "s", Better: Lower, Label: m.label, Doc: m.doc, Formula: m.formula},
			func(_ *record.Window, spans []record.Span) (float64, bool) { return slowestStart(spans, m.of) })...)
	}
	return append(all, Metric{
		Name: WarmUp, Unit: "s", Better: Lower, Label: "warm-up", Doc: "warm-up time",
		Formula: "time from the start of the load to the opening of the window, by when the load had come to rest unless the trial is flagged; only where a warm-up may go on",
		in: func(w *record.Window) (float64, bool) {
			line := w.Record.Timeline
			return float64(line.OpenNs-line.StartNs) / nsPerS, w.Record.WarmUp != nil && line.OpenNs > line.StartNs
		},
	})
}

// slowestStart is the longest time of the spans' workers; false where one has none.
func slowestStart(spans []record.Span, of func(contract.StartUp) int64) (s float64, ok bool) {
	for _, span := range spans {
		at := span.Worker.AtReady
		if at == nil || at.Start == nil {
			return 0, false
		}
		s = max(s, float64(of(*at.Start))/nsPerS)
	}
	return s, len(spans) > 0
}
