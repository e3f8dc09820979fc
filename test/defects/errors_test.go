// Package defects_test holds netdyno against what load tools do wrong and no other package
// holds it to: docs/known-defects-of-load-tools.md.
package defects_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/bench/benchtest"
)

// A server that fails a fifth of its calls at once looks faster and busier to
// every tool that counts those calls. Here a failed exchange has no time, is no
// throughput, and makes the trial invalid.
func TestFailedCallsCountedFast(t *testing.T) {
	const (
		service = 20 * time.Millisecond
		size    = 100
		early   = 40 // the verified exchanges and some more
	)
	var calls, failed atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a body cut short is the client's loss
		if n := calls.Add(1); n > early && n%5 == 0 {
			failed.Add(1)
			http.Error(w, "at once", http.StatusServiceUnavailable)
			return
		}
		time.Sleep(service)
		_, _ = io.WriteString(w, strings.Repeat("x", size))
	}))
	defer server.Close()
	b := benchtest.Built(t)
	header, trials := benchtest.Plan(t, "server=address", "client=go-http1", "opt.server.wire=http/1.1",
		"opt.server.address="+strings.TrimPrefix(server.URL, "http://"), "opt.verify=length", "request=100B", "response=100B",
		"connections=10", "window=1s", "warmup=200ms", "blocks=1", "placement=free")
	records := benchtest.Conduct(t.Context(), t, b, trials[:1])
	found, err := finding.Find(header, trials[:1], records)
	if err != nil {
		t.Fatal(err)
	}
	client, judged := clientOf(t, records[0]), found.Cells[0].Arms[0].Trials[0]
	counts := client.Result.Counts
	errors := counts.Errors[contract.Invalid]
	if errors == 0 || failed.Load() < errors || judged.Status != trial.StatusInvalid || !strings.Contains(judged.Reason, "exchanges failed") {
		t.Errorf("with %d of %d errors counted the trial is %s: %s; want it invalid for them", errors, failed.Load(), judged.Status, judged.Reason)
	}
	times, err := hist.Decode(client.Result.Service)
	if err != nil {
		t.Fatal(err)
	}
	if n := counts.Exchanges + client.Result.Drained; times.Count() != n {
		t.Errorf("%d service times of %d exchanges that succeeded", times.Count(), n)
	}
	if p50, enough := times.Percentile(0.5); !enough || p50 < int64(service) || times.MeanNs() < float64(service) {
		t.Errorf("median %v and mean %v of a service of %v: failures were counted as fast", time.Duration(p50), time.Duration(times.MeanNs()), service)
	}
	if counts.ReceivedBytes != size*counts.Exchanges {
		t.Errorf("%d bytes received in %d exchanges of %d: failures are no goodput", counts.ReceivedBytes, counts.Exchanges, size)
	}
	if share := judged.Values.At("error_share"); share < 0.1 || share > 0.3 {
		t.Errorf("the share of errors is %v, want about a fifth", share)
	}
}

func clientOf(t *testing.T, r record.Record) record.Worker {
	t.Helper()
	for _, w := range r.Workers {
		if w.Role == contract.Client && w.Result != nil {
			return w
		}
	}
	t.Fatalf("the record has no client with a result: %s, %+v", r.Outcome, r.Failure)
	return record.Worker{}
}
