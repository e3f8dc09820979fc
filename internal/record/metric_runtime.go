package record

import "netdyno/internal/contract"

// runtimeMetrics exist where the worker's language has a managed runtime.
func runtimeMetrics() []Metric {
	grown := func(spans []Span, of func(*contract.Runtime) int64, length func(Span) (float64, bool)) (float64, bool) {
		return sumRate(spans, func(s Span) (from, to int64, ok bool) {
			a, b := s.From.Reading.Runtime, s.To.Reading.Runtime
			if a == nil || b == nil {
				return 0, 0, false
			}
			return of(a), of(b), true
		}, length)
	}
	perEx := func(m Metric, of func(*contract.Runtime) int64) []Metric {
		return bothEnds(m, func(w *Window, spans []Span) (float64, bool) {
			sum, ok := grown(spans, of, w.per(Span.Seconds))
			return perExchange(w, sum, ok)
		})
	}
	all := bothEnds(Metric{
		Name: "gc_cpu_share", Unit: "share", Better: Lower, Doc: "GC share of CPU",
		Formula: "CPU time of the garbage collector ÷ CPU time of the process tree, both per second of the window",
	}, func(_ *Window, spans []Span) (float64, bool) {
		gc, ok := grown(spans, func(r *contract.Runtime) int64 { return r.GCCPUNs }, Span.Seconds)
		c, known := cores(spans)
		return gc / nsPerS / c, ok && known && c > 0
	})
	all = append(all, bothEnds(Metric{
		Name: "gc_pause_us_per_s", Unit: "µs/s", Better: Lower, Doc: "GC pause time",
		Formula: "stop-the-world time of the garbage collector per second of the window",
	}, func(_ *Window, spans []Span) (float64, bool) {
		ns, ok := grown(spans, func(r *contract.Runtime) int64 { return r.GCPauseNs }, Span.Seconds)
		return ns / nsPerUs, ok
	})...)
	cycles := func(r *contract.Runtime) int64 { return r.GCCycles }
	all = append(all, bothEnds(Metric{
		Name: "gc_cycles_per_s", Unit: "1/s", Better: Lower, Doc: "rate of GC cycles",
		Formula: "garbage collections per second of the window",
	}, func(_ *Window, spans []Span) (float64, bool) { return grown(spans, cycles, Span.Seconds) })...)
	all = append(all, bothEnds(Metric{
		Name: "gc_pause_us_per_cycle", Unit: "µs", Better: Lower, Doc: "GC pause per cycle",
		Formula: "stop-the-world time of the garbage collector ÷ garbage collections, both in the window; where there was one",
	}, func(_ *Window, spans []Span) (float64, bool) {
		ns, ok := grown(spans, func(r *contract.Runtime) int64 { return r.GCPauseNs }, once)
		n, known := grown(spans, cycles, once)
		return ns / nsPerUs / n, ok && known && n > 0
	})...)
	all = append(all, perEx(Metric{
		Name: "alloc_bytes_per_exchange", Unit: "B", Better: Lower, Doc: "allocation per exchange",
		Formula: "bytes allocated per second ÷ exchanges_per_s",
	}, func(r *contract.Runtime) int64 { return r.AllocBytes })...)
	return append(all, perEx(Metric{
		Name: "allocs_per_exchange", Unit: "1", Better: Lower, Doc: "number of allocations per exchange",
		Formula: "objects allocated per second ÷ exchanges_per_s",
	}, func(r *contract.Runtime) int64 { return r.AllocObjects })...)
}

// once divides a sum over spans by nothing.
func once(Span) (float64, bool) { return 1, true }
