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
		{RSS, "RSS", "memory", "resident memory (RSS) of the process tree " + atEndWords, atClose, ofProcess(rssBytes)},
		{PeakRSS, "peak RSS", "peak memory", "highest resident memory (RSS) of the process tree since it began", atClose, ofProcess(func(p contract.Process) int64 { return p.PeakRSSBytes })},
		{Heap, "heap", "heap", "live and unswept bytes of the runtime's heap " + atEndWords, atClose, ofRuntime(heapBytes)},
		{StartRSS, "RSS at start", "memory at start", "resident memory (RSS) of the process tree at ready", atReady, ofProcess(rssBytes)},
		{"idle_rss_bytes", "idle RSS", "memory at idle", "resident memory (RSS) of the process tree " + atIdleWords, atIdle, ofProcess(rssBytes)},
		{"idle_heap_bytes", "idle heap", "heap at idle", "bytes of the runtime's heap when idle_rss_bytes is read", atIdle, ofRuntime(heapBytes)},
		{HeapSys, "heap from the system", "heap from the system", "address space that the runtime has from the system for its heap " + atEndWords + " (Go: MemStats.HeapSys)", atClose, ofRuntime(func(r *contract.Runtime) int64 { return r.HeapSysBytes })},
		{StackSys, "stacks from the system", "stacks from the system", "address space that the runtime has from the system for stacks " + atEndWords + " (Go: MemStats.StackSys)", atClose, ofRuntime(func(r *contract.Runtime) int64 { return r.StackSysBytes })},
	} {
		all = append(all, bothEnds(Metric{Name: m.name, Unit: "B", Better: Lower, Label: m.label, Doc: m.doc, Formula: m.formula}, atEdge(m.edge, m.of))...)
	}
	all = append(all, bothEnds(Metric{
		Name: Threads, Unit: "1", Suffix: "threads", Label: "OS threads", Doc: "number of threads of the operating system",
		Formula: "threads of the process tree " + atEndWords,
	}, atEdge(atClose, ofProcess(func(p contract.Process) int64 { return int64(p.Threads) })))...)
	all = append(all, bothEnds(Metric{
		Name: Goroutines, Unit: "1", Suffix: "goroutines", Label: "goroutines", Doc: "number of goroutines",
		Formula: "goroutines of the runtime " + atEndWords,
	}, atEdge(atClose, ofRuntime(func(r *contract.Runtime) int64 { return r.Goroutines })))...)
	return append(all, bothEnds(Metric{
		Name: "switches_per_exchange", Unit: "1", Suffix: "/exchange", Better: Lower, Label: "context switches", Doc: "context switches per exchange",
		Formula: "voluntary and involuntary context switches per second ÷ exchanges_per_s",
	}, func(w *record.Window, spans []record.Span) (float64, bool) {
		sum, ok := processRate(spans, func(p contract.Process) int64 {
			return p.VoluntarySwitches + p.InvoluntarySwitches
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
func atIdle(s record.Span) *record.Edge { return s.Worker.Idle }
func atReady(s record.Span) *record.Edge {
	if s.Worker.AtReady == nil || s.Worker.Elsewhere() { // which began before
		return nil
	}
	return &record.Edge{Meter: s.Worker.AtReady}
}
func atClose(s record.Span) *record.Edge { return &s.To }

func rssBytes(p contract.Process) int64   { return p.RSSBytes }
func heapBytes(r *contract.Runtime) int64 { return r.HeapBytes }

// ofProcess reads what the meter says of a process tree; 0 where there is no meter.
func ofProcess(of func(contract.Process) int64) func(*record.Edge) int64 {
	return func(e *record.Edge) int64 {
		if e.Meter == nil {
			return 0
		}
		return of(e.Meter.Process)
	}
}

// ofRuntime reads what a runtime says of itself; 0 where there is none.
func ofRuntime(of func(*contract.Runtime) int64) func(*record.Edge) int64 {
	return func(e *record.Edge) int64 {
		if e.Reading.Runtime == nil {
			return 0
		}
		return of(e.Reading.Runtime)
	}
}
