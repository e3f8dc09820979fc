// Package limits_test provokes what bounds a trial, for real: on namespaces
// with a link between them, whose rate and delay make buffers and windows too
// small. It takes the programs in bin/, where `make build` puts them, and skips
// without.
package limits_test

import (
	"os"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/run/bench/benchtest"
	"netdyno/internal/run/rig/namespaces"
)

// scenario is a load, a link and a setting, and the limit that follows.
type scenario struct {
	name  string
	args  []string
	want  finding.Limit
	proof string // must be in the limit's proof
}

var stream = []string{"transport=go-net", "stream=down", "request=1KiB", "response=1MiB", "chunk=64KiB", "connections=2"}

var scenarios = []scenario{
	{"a full link", append(stream[:len(stream):len(stream)], "link.rate=200Mbit"),
		finding.Link, "link.rate=200Mbit/s"},
	{"a small send buffer over a long way", append(stream[:len(stream):len(stream)], "link.delay=5ms", "opt.server.send_buffer=32KiB"),
		finding.SendBuffer, "send buffer of the server itself"},
	{"a small HTTP/2 window over a long way",
		[]string{"transport=go-grpc", "request=0B", "response=1MiB", "connections=2", "inflight=4", "link.delay=5ms", "opt.client.window=64KiB", "opt.client.connection_window=64KiB"},
		finding.FlowControl, "its library's windows of 128 KiB"},
	{"less offered than there is room for", []string{"transport=go-net", "connections=4", "rate=200"},
		finding.Schedule, ""},
	{"a closed loop over a long way", []string{"transport=go-net", "connections=2", "link.delay=5ms"},
		finding.Latency, ""},
}

func TestLimitsAreNamed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	on, err := namespaces.Build(namespaces.Options{Hosts: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer on.Close()
	b := benchtest.Built(t, "../../bin")
	b.Rig = on
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			header, trials := benchtest.Plan(t, append(s.args, "blocks=1", "window=1s", "warmup=500ms")...)
			records := benchtest.Conduct(t.Context(), t, b, trials[:1])
			f, err := finding.Find(header, trials[:1], records)
			if err != nil {
				t.Fatal(err)
			}
			read := f.Cells[0].Arms[0].Trials[0]
			if read.Status != finding.Valid {
				t.Fatalf("%s: %s", read.Status, read.Reason)
			}
			t.Logf("%s: %s", read.Limit, read.LimitProof)
			if read.Limit != s.want || !strings.Contains(read.LimitProof, s.proof) {
				t.Errorf("limit %s (%s); want %s with %q in its proof", read.Limit, read.LimitProof, s.want, s.proof)
			}
		})
	}
}
