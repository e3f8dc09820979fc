// Package tcp_test provokes on loopback what TCP's own account must show. It
// takes the programs in bin/, where `make build` puts them, and skips without.
package tcp_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/bench/benchtest"
	"netdyno/test/trials"
)

// judged runs one short trial of go-net and returns its record and what the
// reader says of it.
func judged(t *testing.T, args ...string) (record.Record, trial.Trial) {
	t.Helper()
	r, read := trials.First(t, benchtest.Built(t), append(args, "transport=go-net", "blocks=1", "window=600ms", "warmup=200ms", "placement=free")...)
	if read.Status != trial.Valid {
		t.Fatalf("%s: %s", read.Status, read.Reason)
	}
	return r, read
}

// Two clients of one server, all on one host: each end's account is of its own
// connections, although one table of the kernel holds both ends of all.
func TestEachEndsAccountIsItsOwn(t *testing.T) {
	r, read := judged(t, "request=10000B", "response=10000B", "connections=6", "clients=2")
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
		if !(read.Values.At(name) > 0) {
			t.Errorf("%s = %v", name, read.Values.At(name))
		}
	}
}

// A client whose buffer holds half a segment of loopback's makes the server
// wait for it, whoever else uses the CPUs.
func TestASmallReceiveBufferShowsAtTheSender(t *testing.T) {
	_, read := judged(t, "stream=down", "request=1KiB", "response=1MiB", "chunk=128KiB", "connections=4", "opt.client.receive_buffer=32KiB")
	if share := read.Values.At("server.tcp_receive_window_share"); share < 0.5 {
		t.Errorf("the server waited for the client's window in %.3g of its sending time, want most of it", share)
	}
	if read.Limit == trial.ReceiveWindow && !strings.Contains(read.LimitProof, "receive window of the client") {
		t.Errorf("proof %q does not say whose window", read.LimitProof)
	}
	if read.Limit == trial.Latency || read.Limit == trial.SendBuffer {
		t.Errorf("limit %s (%s); want the window, or a CPU that others filled", read.Limit, read.LimitProof)
	}
}
