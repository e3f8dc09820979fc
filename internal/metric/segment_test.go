package metric_test

import (
	"slices"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// A figure without its input is absent.
func TestSegmentMetricsAreAbsentWithoutTheirInputs(t *testing.T) {
	edge := func(at, n int64) record.Edge {
		return record.Edge{
			Reading: contract.Reading{AtNs: at, Counts: contract.Counts{Exchanges: n, ReceivedBytes: n, SentBytes: n}},
			Meter:   &contract.Meter{AtNs: at, Process: contract.Process{CPUNs: n, RSSBytes: 1 << 20}},
		}
	}
	whole := func() record.Record {
		open, closed := edge(0, 0), edge(4e9, 100)
		return record.Record{
			Segment: &record.Segment{Number: 1, First: edge(1e9, 10), Last: edge(3e9, 90)},
			Workers: []record.Worker{{
				Role: contract.Server, Open: &open, Close: &closed, Ready: &contract.Ready{},
				Setup: &contract.Setup{Exchange: contract.Exchange{UpBytes: 1, DownBytes: 1}},
			}},
		}
	}
	for _, c := range []struct {
		name   string
		change func(*record.Record)
		absent []string
	}{
		{"whole", func(*record.Record) {}, nil},
		{"no segment", func(r *record.Record) { r.Segment = nil }, []string{"exchanges_per_s", "cpu_us_per_exchange", "cpu_s_per_gb", "cores", "rss_bytes"}},
		{"too short for a rate", func(r *record.Record) { r.Segment.Last = r.Segment.First }, []string{"exchanges_per_s", "cores"}},
		{"a foreign program", func(r *record.Record) { r.Workers[0].Ready.Foreign = true }, []string{"exchanges_per_s", "cpu_us_per_exchange", "cpu_s_per_gb"}},
		{"a server elsewhere", func(r *record.Record) { r.Workers[0].Ready.Elsewhere = true }, []string{"cpu_us_per_exchange", "cpu_s_per_gb", "cores", "rss_bytes"}},
		{"nothing exchanged", func(r *record.Record) { closed := edge(4e9, 0); r.Workers[0].Close = &closed }, []string{"cpu_us_per_exchange", "cpu_s_per_gb"}},
		{"no edge", func(r *record.Record) { r.Workers[0].Close = nil }, []string{"cpu_us_per_exchange", "cpu_s_per_gb"}},
	} {
		r := whole()
		c.change(&r)
		for _, m := range metric.OfSegments() {
			_, ok := m.Value(&r)
			if want := !slices.Contains(c.absent, m.Name[len("segment."):]); ok != want {
				t.Errorf("%s: %s is there: %v, want %v", c.name, m.Name, ok, want)
			}
		}
	}
}
