package metric

import (
	"math"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// TestStart computes by hand: of two servers the slowest took 0.9 s to its hello and 0.1 s
// from its setup, the time between them not counted.
func TestStart(t *testing.T) {
	worker := func(hello, setup, rss int64) record.Worker {
		edge := func(at int64) *record.Edge { return &record.Edge{Reading: contract.Reading{AtNs: at}} }
		return record.Worker{
			Role: contract.Server, Open: edge(1e9), Close: edge(2e9), Ready: &contract.Ready{},
			AtReady: &contract.Meter{Start: &contract.StartUp{HelloNs: hello, SetupNs: setup}, Process: contract.Process{RSSBytes: rss}},
		}
	}
	r := &record.Record{Workers: []record.Worker{worker(0.9e9, 0.1e9, 30<<20), worker(0.2e9, 0.3e9, 20<<20)}}
	for name, want := range map[string]float64{"server.startup_s": 1, "server.hello_s": 0.9, "server.start_rss_bytes": 50 << 20} {
		m, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := m.Value(r); !ok || math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s is %v (%v), want %v", name, got, ok, want)
		}
	}
	r.Workers[1].AtReady.Start = nil
	r.Workers[1].Ready.Elsewhere = true
	for _, name := range []string{"server.startup_s", "server.start_rss_bytes"} {
		m, _ := Named(name)
		if got, ok := m.Value(r); ok {
			t.Errorf("%s of a server that ran before is %v, want none", name, got)
		}
	}
}
