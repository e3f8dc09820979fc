package foreign_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/test/trials"
)

// bulk are the levels of a short bulk trial.
func bulk(args ...string) []string {
	return append([]string{"request=1MiB", "response=1MiB", "window=300ms", "warmup=200ms"}, args...)
}

// alike runs a trial whose ends have windows of like lengths in which something moved, as a
// machine that is not too busy gives them, and returns the ends.
func alike(t *testing.T, args ...string) (server, client record.Worker) {
	t.Helper()
	var r record.Record
	trials.Repeat(func() bool {
		r = trial(t, args...)
		if r.Outcome != record.OK {
			return r.Failure != nil && r.Failure.Kind == contract.Timeout
		}
		server, client = end(t, r, contract.Server), end(t, r, contract.Client)
		served, drove := server.Close.Reading.AtNs-server.Open.Reading.AtNs, client.Result.ToNs-client.Result.FromNs
		return 2*served >= 3*drove || 2*drove >= 3*served || client.Result.Counts.Exchanges+client.Result.Counts.ReceivedBytes+client.Result.Counts.SentBytes == 0
	})
	if r.Outcome != record.OK {
		t.Fatalf("the trial is %s: %v", r.Outcome, r.Failure)
	}
	return server, client
}

// end returns the first worker of a role.
func end(t *testing.T, r record.Record, role contract.Role) record.Worker {
	t.Helper()
	for _, w := range r.Workers {
		if w.Role == role && w.Result != nil && w.Open != nil && w.Close != nil {
			return w
		}
	}
	t.Fatalf("no %s left an account", role)
	return record.Worker{}
}

// What such a program says when it cannot go on stands in the record.
func TestPairThatFails(t *testing.T) {
	need(t, []string{"iperf3"}, "iperf3")
	var r record.Record
	trials.Repeat(func() bool { // on a busy machine the window may be over before the second client is refused
		r = trial(t, bulk("transport=iperf3", "stream=up", "clients=2")...)
		return r.Failure != nil && strings.Contains(r.Failure.Text, "interrupt - the client has terminated")
	})
	failed(t, r, contract.Peer, "it said: \"the server is busy running a test. try again later (an iperf3 server takes one test at a time")
	r = trial(t, bulk("transport=iperf3", "stream=up", "opt.client.args=--parallel 999")...)
	failed(t, r, contract.Peer, "number of parallel streams too large")
	r = trial(t, bulk("transport=iperf3", "stream=up", "rate=100")...)
	if r.Outcome != record.Unsupported || r.Failure == nil || !strings.Contains(r.Failure.Text, "keeps no schedule") {
		t.Errorf("an open loop is %s: %v", r.Outcome, r.Failure)
	}
}
