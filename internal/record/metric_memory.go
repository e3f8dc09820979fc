package record

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

func heapBytes(e *Edge) int64 {
	if e.Reading.Runtime == nil {
		return 0
	}
	return e.Reading.Runtime.HeapBytes
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
		{"heap_bytes", "heap", "live and unswept bytes of the runtime's heap at the window's closing edge", atClose, heapBytes},
		{"idle_rss_bytes", "memory at idle", "resident set of the process tree with everything connected, before the load", atIdle, rssBytes},
		{"idle_heap_bytes", "heap at idle", "bytes of the runtime's heap with everything connected, before the load", atIdle, heapBytes},
	} {
		all = append(all, bothEnds(Metric{Name: m.name, Unit: "B", Better: Lower, Doc: m.doc, Formula: m.formula}, atEdge(m.edge, m.of))...)
	}
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
