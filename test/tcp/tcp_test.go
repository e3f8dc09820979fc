// Package tcp_test provokes on loopback what TCP's own account must show. It
// takes the programs in bin/, where `make build` puts them, and skips without.
package tcp_test

import (
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// trial runs one short trial of go-net and returns its record and what the
// reader says of it.
func trial(t *testing.T, args ...string) (record.Record, finding.Trial) {
	t.Helper()
	bin, err := filepath.Abs("../../bin")
	if err != nil {
		t.Fatal(err)
	}
	catalog := bench.Discover(t.Context(), []string{bin})
	if len(catalog.Programs) == 0 {
		t.Skip("no workers in bin/: `make build` puts them there")
	}
	s, err := study.ParseArgs(append(args, "transport=go-net", "blocks=1", "window=600ms", "warmup=200ms", "placement=free"), nil)
	if err != nil {
		t.Fatal(err)
	}
	trials, _, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	var records []record.Record
	b := bench.Bench{
		Rig: rig.Loopback{}, Catalog: &catalog, Meter: []string{filepath.Join(bin, "netdyno"), "meter"},
		Keep: func(r record.Record) error { records = append(records, r); return nil },
	}
	if err := b.Run(t.Context(), trials[:1]); err != nil {
		t.Fatal(err)
	}
	f, err := finding.Find(record.Header{Schema: record.Schema, Study: study.Summary(s)}, trials[:1], records)
	if err != nil {
		t.Fatal(err)
	}
	read := f.Cells[0].Arms[0].Trials[0]
	if len(records) != 1 || read.Status != finding.Valid {
		t.Fatalf("%d records; %s: %s", len(records), read.Status, read.Reason)
	}
	return records[0], read
}

// Two clients of one server, all on one host: each end's account is of its own
// connections, although one table of the kernel holds both ends of all.
func TestEachEndsAccountIsItsOwn(t *testing.T) {
	r, read := trial(t, "request=10000B", "response=10000B", "connections=6", "clients=2")
	want := map[contract.Role]int{contract.Server: 6, contract.Client: 3}
	for _, w := range r.Workers {
		for name, m := range map[string]*contract.Meter{"idle": w.Idle.Meter, "open": w.Open.Meter, "close": w.Close.Meter, "result": w.AtResult} {
			if m == nil || m.TCP == nil || m.TCP.Sockets != want[w.Role] {
				t.Errorf("%s at %s: account %+v, want of %d connections", w.Name, name, m, want[w.Role])
			}
		}
		said, idle, closing := w.Close.Reading.Counts, w.Idle.Meter.TCP, w.Close.Meter.TCP
		if idle == nil || closing == nil {
			continue
		}
		if grown := closing.ReceivedBytes; grown < said.ReceivedBytes || said.ReceivedBytes == 0 {
			t.Errorf("%s received %d bytes, the kernel for it %d", w.Name, said.ReceivedBytes, grown)
		}
		if idle.ReceivedBytes < int64(idle.Sockets)*10000 {
			t.Errorf("%s: before the load the kernel received %d bytes, want the verified messages at least", w.Name, idle.ReceivedBytes)
		}
	}
	for _, name := range []string{"server.tcp_rtt_us", "client.tcp_rtt_us"} {
		if !(read.Values[name] > 0) {
			t.Errorf("%s = %v", name, read.Values[name])
		}
	}
}

// A client whose buffer holds half a segment of loopback's makes the server
// wait for it, whoever else uses the CPUs.
func TestASmallReceiveBufferShowsAtTheSender(t *testing.T) {
	_, read := trial(t, "stream=down", "request=1KiB", "response=1MiB", "chunk=128KiB", "connections=4", "opt.client.receive_buffer=32KiB")
	if share := read.Values["server.tcp_receive_window_share"]; share < 0.5 {
		t.Errorf("the server waited for the client's window in %.3g of its sending time, want most of it", share)
	}
	if read.Limit == finding.ReceiveWindow && !strings.Contains(read.LimitProof, "receive window of the client") {
		t.Errorf("proof %q does not say whose window", read.LimitProof)
	}
	if read.Limit == finding.Latency || read.Limit == finding.SendBuffer {
		t.Errorf("limit %s (%s); want the window, or a CPU that others filled", read.Limit, read.LimitProof)
	}
}
