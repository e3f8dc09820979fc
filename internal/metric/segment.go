package metric

import "netdyno/internal/record"

// segmentMetrics are the metrics of one segment of a standing server.
func segmentMetrics() []Metric {
	return []Metric{
		{
			Name: "segment.exchanges_per_s", Unit: "1/s", Label: "rate", Doc: "exchange rate",
			Formula: "exchanges ÷ time, between the first and the last reading under load, by the server's clock",
			in: ofSegment(func(s record.Segment, w *record.Worker) (float64, bool) {
				driven := record.Span{Worker: w, From: s.First, To: s.Last}
				length, ok := driven.Seconds()
				n, counted := serverExchanges(driven)
				return n / length, ok && counted
			}),
		},
		{
			Name: "segment.cpu_us_per_exchange", Unit: "µs", Suffix: "/exchange", Label: "CPU per exchange", Doc: "CPU per exchange",
			Formula: "CPU time of the process tree ÷ exchanges, between the segment's outer readings: warm-up and connecting included",
			in: ofWhole(func(whole record.Span) (float64, bool) {
				spent, metered := spentNs(whole)
				n, counted := serverExchanges(whole)
				return spent / nsPerUs / n, metered && counted && n > 0
			}),
		},
		{
			Name: "segment.cpu_s_per_gb", Unit: "s/GB", Label: "CPU per GB", Doc: "CPU per GB",
			Formula: "CPU time ÷ payload bytes in the direction that the exchange is about, both where streams go both ways; between the outer readings",
			in: ofWhole(func(whole record.Span) (float64, bool) {
				spent, metered := spentNs(whole)
				bytes, counted := serverPayload(whole)
				return spent / nsPerS / bytes * bytesPerGB, metered && counted && bytes > 0
			}),
		},
		{
			Name: "segment.cores", Unit: "s/s", Label: "cores", Doc: "CPU use",
			Formula: "CPU time of the process tree ÷ time, between the first and the last reading under load",
			in: ofSegment(func(s record.Segment, w *record.Worker) (float64, bool) {
				if w.Elsewhere() {
					return 0, false
				}
				return record.Span{Worker: w, From: s.First, To: s.Last}.Cores()
			}),
		},
		{
			Name: "segment.rss_bytes", Unit: "B", Label: "memory", Doc: "memory",
			Formula: "resident memory (RSS) of the process tree at the last reading under load",
			in: ofSegment(func(s record.Segment, w *record.Worker) (float64, bool) {
				if w.Elsewhere() || s.Last.Meter == nil {
					return 0, false
				}
				return float64(s.Last.Meter.Process.RSSBytes), true
			}),
		},
	}
}

func ofSegment(of func(record.Segment, *record.Worker) (float64, bool)) func(*record.Window) (float64, bool) {
	return func(w *record.Window) (float64, bool) {
		if w.Record.Segment == nil || len(w.Record.Workers) != 1 {
			return 0, false
		}
		return of(*w.Record.Segment, &w.Record.Workers[0])
	}
}

// ofWhole makes a metric of the span between a segment's outer readings.
func ofWhole(of func(record.Span) (float64, bool)) func(*record.Window) (float64, bool) {
	return ofSegment(func(_ record.Segment, w *record.Worker) (float64, bool) {
		whole, ok := record.SpanOf(w)
		if !ok {
			return 0, false
		}
		return of(whole)
	})
}

// serverExchanges returns how many a server counted in the span; false when it
// cannot count, or its counter ran backwards.
func serverExchanges(s record.Span) (float64, bool) {
	n := record.Growth(s.From.Reading.Counts.Exchanges, s.To.Reading.Counts.Exchanges)
	return n, n >= 0 && !foreign(s)
}

func foreign(s record.Span) bool { return s.Worker.Ready != nil && s.Worker.Ready.Foreign }

// spentNs returns the CPU time of the worker's process tree in the span.
func spentNs(s record.Span) (float64, bool) {
	from, to, _, ok := s.Metered()
	if !ok || s.Worker.Elsewhere() || to.Process.CPUNs < from.Process.CPUNs {
		return 0, false
	}
	return record.Growth(from.Process.CPUNs, to.Process.CPUNs), true
}

// serverPayload returns the bytes that a server moved in the direction that its
// exchange is about.
func serverPayload(s record.Span) (float64, bool) {
	up, down, ok := s.Worker.Directions()
	from, to := s.From.Reading.Counts, s.To.Reading.Counts
	sum := 0.0
	if up {
		sum += record.Growth(from.ReceivedBytes, to.ReceivedBytes)
	}
	if down {
		sum += record.Growth(from.SentBytes, to.SentBytes)
	}
	return sum, ok && sum >= 0 && !foreign(s)
}
