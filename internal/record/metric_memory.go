package record

import "netdyno/internal/contract"

// atEdge sums what of reads at one edge of every span; false when an edge or
// its reading is absent, or says nothing.
func atEdge(edge func(Span) *Edge, of func(*Edge) int64) func(*Window, []Span) (float64, bool) {
	return func(_ *Window, spans []Span) (float64, bool) {
		sum := 0.0
		for _, s := range spans {
			e := edge(s)
			if e == nil || of(e) <= 0 {
				return 0, false
			}
			sum += float64(of(e))
		}
		return sum, true
	}
}

// The edges at which memory is read.
func atIdle(s Span) *Edge  { return s.Worker.Idle }
func atClose(s Span) *Edge { return &s.To }

func rssBytes(e *Edge) int64 {
	if e.Meter == nil {
		return 0
	}
	return e.Meter.Process.RSSBytes
}

func peakRSSBytes(e *Edge) int64 {
	if e.Meter == nil {
		return 0
	}
	return e.Meter.Process.PeakRSSBytes
}

func heapBytes(r *contract.Runtime) int64     { return r.HeapBytes }
func heapSysBytes(r *contract.Runtime) int64  { return r.HeapSysBytes }
func stackSysBytes(r *contract.Runtime) int64 { return r.StackSysBytes }
func goroutines(r *contract.Runtime) int64    { return r.Goroutines }

// ofRuntime reads what a runtime says of itself; 0 where there is none.
func ofRuntime(of func(*contract.Runtime) int64) func(*Edge) int64 {
	return func(e *Edge) int64 {
		if e.Reading.Runtime == nil {
			return 0
		}
		return of(e.Reading.Runtime)
	}
}

func threads(e *Edge) int64 {
	if e.Meter == nil {
		return 0
	}
	return int64(e.Meter.Process.Threads)
}

// memoryMetrics are memory and context switches of the process trees (METHOD
// §4.2). Memory per connection is a study's fit over connections, not a metric.
func memoryMetrics() []Metric {
	var all []Metric
	for _, m := range []struct {
		name, doc, formula string
		edge               func(Span) *Edge
		of                 func(*Edge) int64
	}{
		{"rss_bytes", "memory", "resident set of the process tree at the window's closing edge", atClose, rssBytes},
		{"peak_rss_bytes", "peak memory", "highest resident set of the process tree since it began", atClose, peakRSSBytes},
		{"heap_bytes", "heap", "live and unswept bytes of the runtime's heap at the window's closing edge", atClose, ofRuntime(heapBytes)},
		{"idle_rss_bytes", "memory at idle", "resident set of the process tree with everything connected, before the load", atIdle, rssBytes},
		{"idle_heap_bytes", "heap at idle", "bytes of the runtime's heap with everything connected, before the load", atIdle, ofRuntime(heapBytes)},
		{"heap_sys_bytes", "heap from the system", "address space that the runtime has from the system for its heap, unused and given-back parts included, at the window's closing edge", atClose, ofRuntime(heapSysBytes)},
		{"stack_sys_bytes", "stacks from the system", "the same for stacks", atClose, ofRuntime(stackSysBytes)},
	} {
		all = append(all, bothEnds(Metric{Name: m.name, Unit: "B", Better: Lower, Doc: m.doc, Formula: m.formula}, atEdge(m.edge, m.of))...)
	}
	all = append(all, bothEnds(Metric{
		Name: "threads", Unit: "1", Doc: "number of threads of the operating system",
		Formula: "threads of the process tree at the window's closing edge",
	}, atEdge(atClose, threads))...)
	all = append(all, bothEnds(Metric{
		Name: "goroutines", Unit: "1", Doc: "number of goroutines",
		Formula: "goroutines that the runtime has at the window's closing edge",
	}, atEdge(atClose, ofRuntime(goroutines)))...)
	return append(all, bothEnds(Metric{
		Name: "switches_per_exchange", Unit: "1", Better: Lower, Doc: "context switches per exchange",
		Formula: "voluntary and involuntary context switches per second ÷ exchanges_per_s",
	}, func(w *Window, spans []Span) (float64, bool) {
		sum, ok := sumRate(spans, func(s Span) (from, to int64, ok bool) {
			a, b, _, ok := s.Metered()
			if !ok {
				return 0, 0, false
			}
			return a.Process.VoluntarySwitches + a.Process.InvoluntarySwitches,
				b.Process.VoluntarySwitches + b.Process.InvoluntarySwitches, true
		}, w.per(meteredSeconds))
		return perExchange(w, sum, ok)
	})...)
}
