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
			"process start to hello + setup to ready (a client's connections included); the slowest process",
			func(s contract.StartUp) int64 { return s.HelloNs + s.SetupNs },
		},
		{
			Hello, "time to hello", "time to the first word",
			"process start to hello, the first message; the slowest process",
			func(s contract.StartUp) int64 { return s.HelloNs },
		},
	} {
		all = append(all, bothEnds(Metric{Name: m.name, Unit: "s", Better: Lower, Label: m.label, Doc: m.doc, Formula: m.formula},
			func(_ *record.Window, spans []record.Span) (float64, bool) { return slowestStart(spans, m.of) })...)
	}
	return append(all, Metric{
		Name: WarmUp, Unit: "s", Better: Lower, Label: "warm-up", Doc: "warm-up time",
		Formula: "start of the load to the opening of the window; where a warm-up may go on",
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
