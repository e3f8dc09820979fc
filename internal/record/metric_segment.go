package record

// segmentMetrics are what a server that stood by itself says of one segment.
// They are no metrics of trials: warm-up is in them, and they are never compared.
var segmentMetrics = register([]Metric{
	{
		Name: "segment.exchanges_per_s", Unit: "1/s", Doc: "exchange rate",
		Formula: "Δ exchanges ÷ Δ time, between the first and the last reading under load, by the server's clock",
		in: ofSegment(func(s Segment, w *Worker) (float64, bool) {
			driven := Span{Worker: w, From: s.First, To: s.Last}
			length, ok := driven.Seconds()
			n, counted := driven.exchanges()
			return n / length, ok && counted
		}),
	},
	{
		Name: "segment.cpu_us_per_exchange", Unit: "µs", Doc: "CPU per exchange",
		Formula: "Δ CPU time of the process tree ÷ Δ exchanges, between the segment's outer edges: warm-up and connecting included",
		in: ofWhole(func(whole Span) (float64, bool) {
			spent, metered := whole.cpuNs()
			n, counted := whole.exchanges()
			return spent / nsPerUs / n, metered && counted && n > 0
		}),
	},
	{
		Name: "segment.cpu_s_per_gb", Unit: "s/GB", Doc: "CPU per GB",
		Formula: "Δ CPU time ÷ Δ payload bytes of the direction that the exchange is about, both where streams go both ways; between the outer edges",
		in: ofWhole(func(whole Span) (float64, bool) {
			spent, metered := whole.cpuNs()
			bytes, counted := whole.payload()
			return spent / nsPerS / bytes * bytesPerGB, metered && counted && bytes > 0
		}),
	},
	{
		Name: "segment.cores", Unit: "s/s", Doc: "CPU use",
		Formula: "Δ CPU time of the process tree ÷ Δ time, between the first and the last reading under load",
		in: ofSegment(func(s Segment, w *Worker) (float64, bool) {
			if w.Elsewhere() {
				return 0, false
			}
			return Span{Worker: w, From: s.First, To: s.Last}.Cores()
		}),
	},
	{
		Name: "segment.rss_bytes", Unit: "B", Doc: "memory",
		Formula: "resident set of the process tree at the last reading under load",
		in: ofSegment(func(s Segment, w *Worker) (float64, bool) {
			if w.Elsewhere() || s.Last.Meter == nil {
				return 0, false
			}
			return float64(s.Last.Meter.Process.RSSBytes), true
		}),
	},
})

// SegmentMetrics returns the metrics of a segment in display order; of any
// other record they are absent. The caller owns the slice.
func SegmentMetrics() []Metric { return append([]Metric(nil), segmentMetrics...) }

func ofSegment(of func(Segment, *Worker) (float64, bool)) func(*Window) (float64, bool) {
	return func(w *Window) (float64, bool) {
		if w.Record.Segment == nil || len(w.Record.Workers) != 1 {
			return 0, false
		}
		return of(*w.Record.Segment, &w.Record.Workers[0])
	}
}

// ofWhole makes a metric of the span between a segment's outer edges.
func ofWhole(of func(Span) (float64, bool)) func(*Window) (float64, bool) {
	return ofSegment(func(_ Segment, w *Worker) (float64, bool) {
		whole, ok := SpanOf(w)
		if !ok {
			return 0, false
		}
		return of(whole)
	})
}

// exchanges returns how many a server counted in the span; false when it
// cannot count, or ran backwards.
func (s Span) exchanges() (float64, bool) {
	n := delta(s.From.Reading.Counts.Exchanges, s.To.Reading.Counts.Exchanges)
	return n, n >= 0 && !s.foreign()
}

func (s Span) foreign() bool { return s.Worker.Ready != nil && s.Worker.Ready.Foreign }

// cpuNs returns the CPU time of the worker's process tree in the span.
func (s Span) cpuNs() (float64, bool) {
	from, to, _, ok := s.Metered()
	if !ok || s.Worker.Elsewhere() || to.Process.CPUNs < from.Process.CPUNs {
		return 0, false
	}
	return delta(from.Process.CPUNs, to.Process.CPUNs), true
}

// payload returns the bytes that a server moved in the direction that its
// exchange is about.
func (s Span) payload() (float64, bool) {
	up, down, ok := s.Worker.directions()
	from, to := s.From.Reading.Counts, s.To.Reading.Counts
	sum := 0.0
	if up {
		sum += delta(from.ReceivedBytes, to.ReceivedBytes)
	}
	if down {
		sum += delta(from.SentBytes, to.SentBytes)
	}
	return sum, ok && sum >= 0 && !s.foreign()
}
