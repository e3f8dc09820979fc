package metric

import (
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// runtimeMetrics exist where the worker's language has a managed runtime.
func runtimeMetrics() []Metric {
	return slices.Concat(
		bothEnds(Metric{
			Name: GCShare, Unit: "share", Better: Lower, Label: "GC share of CPU", Doc: "GC share of CPU",
			Formula: "CPU time of the garbage collector ÷ CPU time of the process tree, both per second of the window",
		}, func(_ *record.Window, spans []record.Span) (float64, bool) {
			gc, ok := runtimeGrowth(spans, func(r *contract.Runtime) int64 { return r.GCCPUNs }, record.Span.Seconds)
			c, known := cores(spans)
			return gc / nsPerS / c, ok && known && c > 0
		}),
		bothEnds(Metric{
			Name: GCPauses, Unit: "µs/s", Better: Lower, Label: "GC pauses", Doc: "GC pause time",
			Formula: "stop-the-world time of the garbage collector per second of the window",
		}, func(_ *record.Window, spans []record.Span) (float64, bool) {
			ns, ok := runtimeGrowth(spans, gcPauseNs, record.Span.Seconds)
			return ns / nsPerUs, ok
		}),
		bothEnds(Metric{
			Name: GCCycles, Unit: "1/s", Better: Lower, Label: "GC cycles", Doc: "rate of GC cycles",
			Formula: "garbage collections per second of the window",
		}, func(_ *record.Window, spans []record.Span) (float64, bool) {
			return runtimeGrowth(spans, gcCycles, record.Span.Seconds)
		}),
		bothEnds(Metric{
			Name: GCPausePerCycle, Unit: "µs", Suffix: "/cycle", Better: Lower, Label: "pause per GC cycle", Doc: "GC pause per cycle",
			Formula: "stop-the-world time ÷ garbage collections in the window; absent where there was none",
		}, func(_ *record.Window, spans []record.Span) (float64, bool) {
			ns, ok := runtimeGrowth(spans, gcPauseNs, once)
			n, known := runtimeGrowth(spans, gcCycles, once)
			return ns / nsPerUs / n, ok && known && n > 0
		}),
		bothEnds(Metric{
			Name: AllocPerExchange, Unit: "B", Suffix: "/exchange", Better: Lower, Label: "allocated", Doc: "allocation per exchange",
			Formula: "bytes allocated per second ÷ exchanges_per_s",
		}, runtimePerExchange(func(r *contract.Runtime) int64 { return r.AllocBytes })),
		bothEnds(Metric{
			Name: "allocs_per_exchange", Unit: "1", Suffix: "/exchange", Better: Lower, Label: "allocations", Doc: "number of allocations per exchange",
			Formula: "objects allocated per second ÷ exchanges_per_s",
		}, runtimePerExchange(func(r *contract.Runtime) int64 { return r.AllocObjects })),
	)
}

func gcPauseNs(r *contract.Runtime) int64 { return r.GCPauseNs }
func gcCycles(r *contract.Runtime) int64  { return r.GCCycles }

// runtimeGrowth sums a counter of the spans' runtimes, each divided by its
// length; false where one has no runtime.
func runtimeGrowth(spans []record.Span, of func(*contract.Runtime) int64, length spanLength) (float64, bool) {
	return sumRate(spans, func(s record.Span) (from, to int64, ok bool) {
		a, b := s.From.Reading.Runtime, s.To.Reading.Runtime
		if a == nil || b == nil {
			return 0, 0, false
		}
		return of(a), of(b), true
	}, length)
}

// runtimePerExchange divides a counter's growth by the exchanges; false where a runtime does
// not count it (Python's tells of collections alone), because nothing is never allocated.
func runtimePerExchange(of func(*contract.Runtime) int64) func(*record.Window, []record.Span) (float64, bool) {
	return func(w *record.Window, spans []record.Span) (float64, bool) {
		sum, ok := runtimeGrowth(spans, of, costLength(w, record.Span.Seconds))
		return perExchange(w, sum, ok && !slices.ContainsFunc(spans, func(s record.Span) bool { return of(s.To.Reading.Runtime) == 0 }))
	}
}
