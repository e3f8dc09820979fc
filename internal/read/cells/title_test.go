package cells

import (
	"testing"

	"netdyno/internal/record"
)

func TestTitle(t *testing.T) {
	held := map[string]string{"request": "100B", "response": "100B", "connections": "20", "rate": "max", "stream": "no"}
	offered := map[string]string{"request": "100B", "response": "1KiB", "connections": "1000", "rate": "20000", "transport": "go-net"}
	streams := map[string]string{"request": "1MiB", "response": "1B", "connections": "1", "stream": "up"}
	mixed := map[string]string{"workload": "load/shop.yaml", "connections": "50", "rate": "5000", "arrival": "burst:on=10ms,off=90ms"}
	vary := func(name string, levels ...string) record.Factor { return record.Factor{Name: name, Levels: levels} }
	for want, s := range map[string]record.Study{
		"go-grpc against go-http1 (100 B each way, 20 connections)": {
			Hold: held, Vary: []record.Factor{vary("transport", "go-http1", "go-grpc")}, Compare: record.Compare{Factor: "transport", Baseline: "go-http1"},
		},
		"b, c and d against a (stream up, 1 MiB up, 1 B down, 1 connection)": {
			Hold: streams, Vary: []record.Factor{vary("arm", "a", "b", "c", "d")}, Compare: record.Compare{Factor: "arm", Baseline: "a"},
		},
		"b, c, d and 2 more against a": {Vary: []record.Factor{vary("arm", "a", "b", "c", "d", "e", "f")}, Compare: record.Compare{Factor: "arm", Baseline: "a"}},
		"b against a (codec proto and json, 1, 10 and 1,000 connections)": {
			Vary:    []record.Factor{vary("arm", "a", "b"), vary("codec", "proto", "json"), vary("connections", "1", "10", "1000")},
			Compare: record.Compare{Factor: "arm", Baseline: "a"},
		},
		"build after against before": {Vary: []record.Factor{vary("build", "before", "after")}, Compare: record.Compare{Factor: "build", Baseline: "before"}},
		"10 connections against 1 connection": {
			Vary: []record.Factor{vary("connections", "1", "10")}, Compare: record.Compare{Factor: "connections", Baseline: "1"},
		},
		"server.command ./new {port} against ./old {port} (go-net, 100 B up, 1 KiB down, 1,000 connections, 20 k/s)": {
			Hold: offered, Vary: []record.Factor{vary("opt.server.command", "./old {port}", "./new {port}")},
			Compare: record.Compare{Factor: "opt.server.command", Baseline: "./old {port}"},
		},
		"go-net (100 B each way, 20 connections)": {
			Hold: held, Vary: []record.Factor{vary("transport", "go-net")}, Compare: record.Compare{Factor: "transport", Baseline: "go-net"},
		},
		"b against a (workload shop.yaml, 50 connections, 5 k/s, arrival burst:on=10ms,off=90ms)": {
			Hold: mixed, Vary: []record.Factor{vary("transport", "a", "b")}, Compare: record.Compare{Factor: "transport", Baseline: "a"},
		},
		"b against a (100 B up; sizes, as they come down; 1 connection; arrival 1k, 5k; work 2ms)": {
			Hold: map[string]string{"request": "100B", "response": "homa-w3", "connections": "1", "rate": "3000.1", "arrival": "steps:1k,5k/1s", "work": "2ms"},
			Vary: []record.Factor{vary("transport", "a", "b")}, Compare: record.Compare{Factor: "transport", Baseline: "a"},
			Labels: record.Labels{Levels: map[string]map[string]string{"response": {"homa-w3": "sizes, as they come"}, "arrival": {"steps:1k,5k/1s": "1k, 5k"}}},
		},
		record.Unnamed: {Hold: held},
	} {
		s.Name = record.Unnamed
		if got := PlanOf(record.Header{Study: s}).Title(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if s.Name = "event-loops"; PlanOf(record.Header{Study: s}).Title() != s.Name {
			t.Errorf("a study that has a name is titled %q", PlanOf(record.Header{Study: s}).Title())
		}
	}
}

func TestSpoken(t *testing.T) {
	for cell, want := range map[string]string{
		"": "", "connections=1": "1 connection", "connections=10000 request=4KiB": "10,000 connections, request=4KiB", "rate=20000 inflight=8": "20 k/s, 8 exchanges in flight",
		"rate=max": "rate=max", "rate=20k": "20 k/s", "threads=2 clients=1 servers=3": "2 threads, 1 client, 3 servers",
	} {
		if got := Spoken(cell); got != want {
			t.Errorf("%q is spoken %q, want %q", cell, got, want)
		}
	}
	if got := InCell("connections=50"); got != " at 50 connections" {
		t.Errorf("in a cell: %q", got)
	}
}
