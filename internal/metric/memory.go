package metric

import (
	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// memoryMetrics are memory, threads and context switches of the process trees
// (specification §4.2). Memory per connection is a study's fit over connections, not a
// metric.
func memoryMetrics() []Metric {
	const (
		atIdleWords = "with every connection made and verified, before the load begins"
		atEndWords  = "as the window closes"
	)
	var all []Metric
	for _, m := range []struct {
		name, label, doc, formula string
		edge                      func(record.Span) *record.Edge
		of                        func(*record.Edge) int64
	}{
		{RSS, "RSS", "memory", "resident memory (RSS) of the process tree " + atEndWords, atClose, rssBytes},
		{PeakRSS, "peak RSS", "peak memory", "highest resident memory (RSS) of the process tree since it began", atClose, peakRSSBytes},
		{Heap, "heap", "heap", "live and unswept bytes of the runtime's heap " + atEndWords, atClose, ofRuntime(heapBytes)},
		{"idle_rss_bytes", "idle RSS", "memory at idle", "resident memory (RSS) of the process tree " + atIdleWords, atIdle, rssBytes},
		{"idle_heap_bytes", "idle heap", "heap at idle", "bytes of the runtime's heap " + atIdleWords, atIdle, ofRuntime(heapBytes)},
		{HeapSys, "heap from the system", "heap from the system", "address space that the runtime has from the system for its heap " + atEndWords + " (Go: MemStats.HeapSys)", atClose, ofRuntime(heapSysBytes)},
		{StackSys, "stacks from the system", "stacks from the system", "address space that the runtime has from the system for stacks " + atEndWords + " (Go: MemStats.StackSys)", atClose, ofRuntime(stackSysBytes)},
	} {
		all = append(all, bothEnds(Metric{Name: m.name, Unit: "B", Better: Lower, Label: m.label, Doc: m.doc, Formula: m.formula}, atEdge(m.edge, m.of))...)
	}
	all = append(all, bothEnds(Metric{
		Name: Threads, Unit: "1", Suffix: "threads", Label: "OS threads", Doc: "number of threads of the operating system",
		Formula: "threads of the process tree " + atEndWords,
	}, atEdge(atClose, threads))...)
	all = append(all, bothEnds(Metric{
		Name: Goroutines, Unit: "1", Suffix: "goroutines", Label: "goroutines", Doc: "number of goroutines",
		Formula: "goroutines of the runtime " + atEndWords,
	}, atEdge(atClose, ofRuntime(goroutines)))...)
	return append(all, bothEnds(Metric{
		Name: "switches_per_exchange", Unit: "1", Suffix: "/exchange", Better: Lower, Label: "context switches", Doc: "context switches per exchange",
		Formula: "voluntary and involuntary context switches per second ÷ exchanges_per_s",
	}, func(w *record.Window, spans []record.Span) (float64, bool) {
		sum, ok := sumRate(spans, func(s record.Span) (from, to int64, ok bool) {
			a, b, _, ok := s.Metered()
			if !ok {
				return 0, 0, false
			}
			return a.Process.VoluntarySwitches + a.Process.InvoluntarySwitches,
				b.Process.VoluntarySwitches + b.Process.InvoluntarySwitches, true
		}, costLength(w, meteredSeconds))
		return perExchange(w, sum, ok)
	})...)
}

// atEdge sums what of reads at one edge of every span; false when an edge or
// its reading is absent, or says nothing.
func atEdge(edge func(record.Span) *record.Edge, of func(*record.Edge) int64) func(*record.Window, []record.Span) (float64, bool) {
	return func(_ *record.Window, spans []record.Span) (float64, bool) {
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
func atIdle(s record.Span) *record.Edge  { return s.Worker.Idle }
func atClose(s record.Span) *record.Edge { return &s.To }

func rssBytes(e *record.Edge) int64 {
	if e.Meter == nil {
		return 0
	}
	return e.Meter.Process.RSSBytes
}

func peakRSSBytes(e *record.Edge) int64 {
	if e.Meter == nil {
		return 0
	}
	return e.Meter.Process.PeakRSSBytes
}

func threads(e *record.Edge) int64 {
	if e.Meter == nil {
		return 0
	}
	return int64(e.Meter.Process.Threads)
}

func heapBytes(r *contract.Runtime) int64     { return r.HeapBytes }
func heapSysBytes(r *contract.Runtime) int64  { return r.HeapSysBytes }
func stackSysBytes(r *contract.Runtime) int64 { return r.StackSysBytes }
func goroutines(r *contract.Runtime) int64    { return r.Goroutines }

// ofRuntime reads what a runtime says of itself; 0 where there is none.
func ofRuntime(of func(*contract.Runtime) int64) func(*record.Edge) int64 {
	return func(e *record.Edge) int64 {
		if e.Reading.Runtime == nil {
			return 0
		}
		return of(e.Reading.Runtime)
	}
}
