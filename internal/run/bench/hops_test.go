package bench_test

import (
	"os/exec"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/bench/benchtest"
)

// hopOf returns the record's hop.
func hopOf(t *testing.T, r record.Record) record.Worker {
	t.Helper()
	for _, w := range r.Workers {
		if w.Role == contract.Hop {
			return w
		}
	}
	t.Fatalf("%s has no hop: %+v", r.Trial.ID, r.Failure)
	return record.Worker{}
}

// A hop of the user's lies between the ends, is metered without the worker that starts it,
// and carries what the clients count. One that does not start fails its trial.
func TestAHopLiesBetween(t *testing.T) {
	if _, err := exec.LookPath("socat"); err != nil {
		t.Skip("socat is not installed: `make packages-test` installs it")
	}
	b := benchtest.Built(t)
	const socat = "exec:socat TCP-LISTEN:{port}\\,fork\\,backlog=64 TCP:{upstream}"
	_, trials := benchtest.Plan(t, "transport=go-net", "path=direct,"+socat+",exec:false {port}", "connections=2", "window=100ms", "warmup=20ms", "blocks=1")
	for _, r := range benchtest.Conduct(t.Context(), t, b, trials) {
		switch {
		case r.Trial.Arm == "direct":
			if r.Outcome != record.OK || len(r.Workers) != 2 {
				t.Errorf("direct is %s with %d workers: %+v", r.Outcome, len(r.Workers), r.Failure)
			}
		case strings.HasPrefix(r.Trial.Arm, "exec:false"):
			if r.Outcome != record.Failed || r.Failure.Worker != "hop" || !strings.Contains(r.Failure.Text, "ended before it listened") {
				t.Errorf("a hop that ends leaves %s: %+v", r.Outcome, r.Failure)
			}
		default:
			if r.Outcome != record.OK {
				t.Fatalf("with socat between it is %s: %+v", r.Outcome, r.Failure)
			}
			hop := hopOf(t, r)
			client := r.Workers[len(r.Workers)-1]
			if got := hop.Ready.Addresses; len(got) != 1 || client.Setup.Peers[0] != got[0] {
				t.Errorf("clients connect to %v, and the hop listens at %v", client.Setup.Peers, got)
			}
			process, tcp := hop.Close.Meter.Process, hop.Close.Meter.TCP
			if process.CPUNs <= hop.Open.Meter.Process.CPUNs || process.Processes != 3 { // the one that listens, and one for each connection
				t.Errorf("its processes are %+v", process)
			}
			if tcp == nil || tcp.Sockets != 2 || tcp.ReceivedBytes < client.Result.Counts.SentBytes {
				t.Errorf("the kernel counts %+v on it, the client %+v", tcp, client.Result.Counts)
			}
		}
	}
}
