// Package hlog_test has the logs of `netdyno export --format hlog` read by others. What the
// reference implementation in Java printed for testdata/run.hlog lies beside it.
package hlog_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"netdyno/internal/hist"
	"netdyno/internal/read/export"
	"netdyno/internal/record"
	"netdyno/internal/run/bench/benchtest"
	"netdyno/test/trials"
)

const (
	logged  = "testdata/run.hlog"      // of a run with two arms in an open loop
	printed = "testdata/run.java.text" // by HdrHistogram 2 for Java
)

// line is what a reader makes of a line, in the form of what Java printed.
func line(h *hdr.Histogram) string {
	text := fmt.Sprintf("%s %d %d %d", h.Tag(), h.StartTimeMs(), h.EndTimeMs(), h.TotalCount())
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
		text += fmt.Sprint(" ", percentile(h, q))
	}
	return text + fmt.Sprint(" ", h.Max())
}

// percentile is the least value with the share q of all at or below it, as Java
// has it. The Go library's own rounds the rank instead of raising it, and so
// answers with the neighbour below in half of the cases.
func percentile(h *hdr.Histogram, q float64) int64 {
	rank, seen := int64(math.Ceil(q*float64(h.TotalCount())-1e-9)), int64(0)
	for _, bar := range h.Distribution() {
		if seen += bar.Count; seen >= rank {
			return bar.To
		}
	}
	return 0
}

// lines reads a log by the Go library.
func lines(t *testing.T, log []byte) []*hdr.Histogram {
	t.Helper()
	reader := hdr.NewHistogramLogReader(bytes.NewReader(log))
	var all []*hdr.Histogram
	for {
		h, err := reader.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			return all
		}
		all = append(all, h)
	}
}

// The reference implementation and ours agree on every figure of a log that
// netdyno wrote.
func TestReferenceAgrees(t *testing.T) {
	log, err := os.ReadFile(logged)
	if err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(printed)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(said)), "\n")
	got := lines(t, log)
	if len(got) != len(want) || len(got) == 0 {
		t.Fatalf("Go reads %d lines, Java %d", len(got), len(want))
	}
	for i, h := range got {
		if ours := line(h); ours != want[i] {
			t.Errorf("line %d\n Go   %s\n Java %s", i+1, ours, want[i])
		}
	}
}

// measured returns the log of a short run of this code, and its records.
func measured(t *testing.T) ([]byte, []record.Record) {
	t.Helper()
	s := trials.Run(t, benchtest.Built(t), "transport=null", "opt.service=1ms", "connections=20,40", "rate=2000", "window=600ms", "warmup=100ms", "blocks=1")
	s.Header.CreatedAt = slices.MinFunc(s.Records, func(a, b record.Record) int { return a.StartedAt.Compare(b.StartedAt) }).StartedAt
	format, err := export.Named("hlog")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if err := format.Write(&log, export.Run{Header: s.Header, Plan: s.Plan, Records: s.Records}, export.Table{}); err != nil {
		t.Fatal(err)
	}
	return log.Bytes(), s.Records
}

// A log holds exactly what the records hold, under names that tell the lines
// apart.
func TestLogHoldsTheRecords(t *testing.T) {
	log, records := measured(t)
	got := map[string][]*hdr.Histogram{}
	for _, h := range lines(t, log) {
		got[h.Tag()] = append(got[h.Tag()], h)
	}
	for _, r := range records {
		arm := r.Trial.Arm
		if r.Trial.Repeat {
			arm += "_again"
		}
		for sort, text := range map[string]string{
			record.Service: r.Workers[0].Result.Service, record.Response: r.Workers[0].Result.Response, record.Lag: r.Workers[0].Result.Lag,
		} {
			name := strings.TrimPrefix(r.Trial.Cell+"/"+arm+"/"+sort, "/")
			if len(got[name]) != 1 {
				t.Fatalf("%d lines are tagged %s, want one; there are %d tags", len(got[name]), name, len(got))
			}
			want, err := hist.Decode(text)
			if err != nil {
				t.Fatal(err)
			}
			h := got[name][0]
			if h.TotalCount() != want.Count() || h.Max() != want.MaxNs() {
				t.Errorf("%s: %d times up to %d ns, the record has %d up to %d", name, h.TotalCount(), h.Max(), want.Count(), want.MaxNs())
			}
			if p90, enough := want.Percentile(0.9); !enough || percentile(h, 0.9) != p90 {
				t.Errorf("%s: p90 %d ns, the record has %d (%v)", name, percentile(h, 0.9), p90, enough)
			}
			if length := h.EndTimeMs() - h.StartTimeMs(); length < 590 || h.StartTimeMs() < r.StartedAt.UnixMilli() {
				t.Errorf("%s: from %d for %d ms; the trial began at %d and its window is 600 ms", name, h.StartTimeMs(), length, r.StartedAt.UnixMilli())
			}
		}
	}
}
