package record

import (
	"slices"
	"testing"

	"netdyno/internal/contract"
)

func clientOf(peers ...string) Worker {
	return Worker{Role: contract.Client, Setup: &contract.Setup{Peers: peers}}
}

func TestAwayIsWhereNoServerOfTheTrialIs(t *testing.T) {
	for _, c := range []struct {
		name    string
		workers []Worker
		want    []string
	}{
		{"clients alone", []Worker{clientOf("10.0.0.1:80"), clientOf("10.0.0.1:80")}, []string{"10.0.0.1:80"}},
		{"a server of the trial", []Worker{{Role: contract.Server}, clientOf("10.0.0.1:80")}, nil},
		{"a pair", []Worker{{Role: contract.Pair, Setup: &contract.Setup{}}}, nil},
		{"clients that were not set up", []Worker{{Role: contract.Client}}, nil},
		{"nobody", nil, nil},
	} {
		if got := (&Record{Workers: c.workers}).Away(); !slices.Equal(got, c.want) {
			t.Errorf("%s: away at %v, want %v", c.name, got, c.want)
		}
	}
}

// A figure without its input is absent.
func TestSegmentMetricsAreAbsentWithoutTheirInputs(t *testing.T) {
	edge := func(at, n int64) Edge {
		return Edge{
			Reading: contract.Reading{AtNs: at, Counts: contract.Counts{Exchanges: n, ReceivedBytes: n, SentBytes: n}},
			Meter:   &contract.Meter{AtNs: at, Process: contract.Process{CPUNs: n, RSSBytes: 1 << 20}},
		}
	}
	whole := func() Record {
		open, closed := edge(0, 0), edge(4e9, 100)
		return Record{
			Segment: &Segment{Number: 1, First: edge(1e9, 10), Last: edge(3e9, 90)},
			Workers: []Worker{{
				Role: contract.Server, Open: &open, Close: &closed, Ready: &contract.Ready{},
				Setup: &contract.Setup{Exchange: contract.Exchange{UpBytes: 1, DownBytes: 1}},
			}},
		}
	}
	for _, c := range []struct {
		name   string
		change func(*Record)
		absent []string
	}{
		{"whole", func(*Record) {}, nil},
		{"no segment", func(r *Record) { r.Segment = nil }, []string{"exchanges_per_s", "cpu_us_per_exchange", "cpu_s_per_gb", "cores", "rss_bytes"}},
		{"too short for a rate", func(r *Record) { r.Segment.Last = r.Segment.First }, []string{"exchanges_per_s", "cores"}},
		{"a foreign program", func(r *Record) { r.Workers[0].Ready.Foreign = true }, []string{"exchanges_per_s", "cpu_us_per_exchange", "cpu_s_per_gb"}},
		{"a server elsewhere", func(r *Record) { r.Workers[0].Ready.Elsewhere = true }, []string{"cpu_us_per_exchange", "cpu_s_per_gb", "cores", "rss_bytes"}},
		{"nothing exchanged", func(r *Record) { closed := edge(4e9, 0); r.Workers[0].Close = &closed }, []string{"cpu_us_per_exchange", "cpu_s_per_gb"}},
		{"no edge", func(r *Record) { r.Workers[0].Close = nil }, []string{"cpu_us_per_exchange", "cpu_s_per_gb"}},
	} {
		r := whole()
		c.change(&r)
		for _, m := range SegmentMetrics() {
			_, ok := m.Value(&r)
			if want := !slices.Contains(c.absent, m.Name[len("segment."):]); ok != want {
				t.Errorf("%s: %s is there: %v, want %v", c.name, m.Name, ok, want)
			}
		}
	}
}
