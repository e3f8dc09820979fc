package export

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// requests reads OTLP/JSON, a request on each line.
func requests(t *testing.T, text []byte) []*metrics.MetricsData {
	t.Helper()
	var all []*metrics.MetricsData
	for line := range bytes.Lines(text) {
		m := &metrics.MetricsData{}
		if err := protojson.Unmarshal(line, m); err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

func TestOTLPHoldsEveryTrial(t *testing.T) {
	r := run(synthetic.Options{Rate: 20_000, Blocks: 4, Seed: 7, SD: 0.01})
	r.Records[0].Outcome, r.Records[0].Failure = record.Failed, &record.Failure{Kind: "peer", Text: "gone"}
	text := written(t, "otlp", r, "")
	rates, times, names := 0, 0, map[string]bool{}
	all := requests(t, text)
	for _, request := range all {
		for _, m := range request.ResourceMetrics[0].ScopeMetrics[0].Metrics {
			names[m.Name] = true
			for _, p := range m.GetGauge().GetDataPoints() {
				if m.Name != "netdyno.exchanges" {
					continue
				}
				rates++
				if len(p.Attributes) != 6 || p.Attributes[5].Key != "connections" || p.Attributes[5].Value.GetIntValue() < 50 ||
					math.Abs(p.GetAsDouble()-20_000) > 2000 || p.TimeUnixNano-p.StartTimeUnixNano < 1.9e9 {
					t.Errorf("a rate: %v", p)
				}
			}
			for _, p := range m.GetExponentialHistogram().GetDataPoints() {
				times++
				if p.Count < 1000 || p.GetSum() <= 0 || len(p.Positive.BucketCounts) > mostBuckets {
					t.Errorf("times: %v", p)
				}
			}
		}
	}
	if valid := len(r.Plan) - 1; rates != valid || times != 3*valid || len(all) != (valid+batchTrials-1)/batchTrials {
		t.Errorf("%d rates, %d histograms, %d requests of %d valid trials", rates, times, len(all), valid)
	}
	// The mapping of OTLP: names in lower camel case, enumerations as numbers.
	if !bytes.Contains(text, []byte(`"aggregationTemporality":1`)) || !bytes.Contains(text, []byte(`{"resourceMetrics":[`)) || !names["netdyno.server.cpu_per_exchange"] {
		t.Errorf("names %v in %.300s", names, text)
	}
	for line := range bytes.Lines(text) {
		if !json.Valid(line) {
			t.Fatal("a line is no JSON")
		}
	}
}

func TestHostileNamesInOTLP(t *testing.T) {
	r, seen := hostileRun(), map[string]bool{}
	for _, request := range requests(t, written(t, "otlp", r, "")) {
		for _, p := range request.ResourceMetrics[0].ScopeMetrics[0].Metrics[0].GetGauge().DataPoints {
			for _, a := range p.Attributes {
				if a.Key == "arm" {
					seen[a.Value.GetStringValue()] = true
				}
			}
		}
	}
	for _, name := range hostile {
		if !seen[strings.ToValidUTF8(name, "\uFFFD")] {
			t.Errorf("arm %q is not there", name)
		}
	}
}

func TestOTLPNames(t *testing.T) {
	names := map[string]string{}
	for _, m := range metric.All() {
		name, _, _ := otlpName(m)
		if names[name] != "" {
			t.Errorf("%s and %s are both %s", m.Name, names[name], name)
		}
		names[name] = m.Name
	}
}

// The buckets of an exponential histogram hold the values that were recorded.
func TestExponentialHistograms(t *testing.T) {
	for name, values := range map[string][]int64{
		"one": {1000}, "wide": {1, 40, 1000, 123_456, 5_000_000, hist.MaxNs}, "zero too": {0, 0, 1_000_000}, "zeros": {0}, "narrow": {1_000_000, 1_010_000}, "powers": {1 << 10, 1 << 20, 1 << 30},
	} {
		h := hist.New()
		for _, ns := range values {
			h.Record(ns, 2)
		}
		p := exponential(h)
		buckets, n := p.GetPositive().GetBucketCounts(), p.ZeroCount
		for _, c := range buckets {
			n += c
		}
		if n != uint64(2*len(values)) || p.Count != n || len(buckets) > mostBuckets {
			t.Errorf("%s: %d of %d values in %d buckets", name, n, p.Count, len(buckets))
		}
		for _, ns := range values {
			if ns == 0 {
				continue
			}
			i := int(bucketOf(float64(ns)/1e9, p.Scale) - p.Positive.Offset)
			near := i >= -1 && i <= len(buckets) // the recorded step may lie beside an edge
			filled := false
			for j := max(0, i-1); near && j <= min(len(buckets)-1, i+1); j++ {
				filled = filled || buckets[j] > 0
			}
			base := math.Exp2(math.Exp2(-float64(p.Scale)))
			lower := math.Pow(base, float64(int(p.Positive.Offset)+i))
			if x := float64(ns) / 1e9; !filled || x < lower*0.99 || x > lower*base*1.01 {
				t.Errorf("%s: %d ns in bucket %d from %g s, scale %d", name, ns, i, lower, p.Scale)
			}
		}
	}
}

// collector answers requests, and keeps what it was sent.
func collector(t *testing.T, answer http.HandlerFunc) (string, *[][]byte) {
	t.Helper()
	var bodies [][]byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != metricsPath || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("%s %s (%v): %v", r.Method, r.URL, r.Header, err)
		}
		bodies = append(bodies, body)
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, &bodies
}

func TestPostToACollector(t *testing.T) {
	r := small()
	// ExportMetricsServiceResponse{partial_success: {rejected_data_points: 2, error_message: "old"}}
	partial := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 2)
	partial = protowire.AppendString(protowire.AppendTag(partial, 2, protowire.BytesType), "old\x1b")
	partial = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
	url, bodies := collector(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write(partial)
	})
	endpoint, err := Endpoint(url)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := Post(t.Context(), endpoint, r)
	if err != nil || sent.Rejected != 2 || sent.Why != "old·" || sent.Requests != 1 || sent.Points < len(r.Plan)*20 {
		t.Errorf("sent %+v: %v", sent, err)
	}
	got := &metrics.MetricsData{}
	if err := proto.Unmarshal((*bodies)[0], got); err != nil {
		t.Fatal(err)
	}
	if want := requests(t, written(t, "otlp", r, ""))[0]; !proto.Equal(got, want) {
		t.Error("what was posted is not what is written")
	}
}

func TestCollectorsThatDoNotTakeIt(t *testing.T) {
	r := small()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"not there":  {http.NotFound, "404 Not Found: 404 page not found; expected 200 from an OTLP collector"},
		"redirected": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/else", http.StatusFound) }, "302 Found"},
		"steering": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, strings.Repeat("\x1b[2J", 200), http.StatusInternalServerError)
		}, "500 Internal Server Error: ·[2J"},
		"no OTLP": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			_, _ = w.Write([]byte("hello"))
		}, "the answer is no OTLP"},
		"hung up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		url, _ := collector(t, c.answer)
		_, err := Post(t.Context(), url+metricsPath, r)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b") || len(err.Error()) > 400 {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Post(ended, "http://127.0.0.1:1/v1/metrics", r); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("a command that was ended: %v", err)
	}
	for text, want := range map[string]string{
		"http://127.0.0.1:4318": "http://127.0.0.1:4318/v1/metrics", "https://c/": "https://c/v1/metrics", "http://c/otlp": "http://c/otlp",
		"127.0.0.1:4318": "", "ftp://c/": "", "": "", "http://": "", "http://[": "",
	} {
		got, err := Endpoint(text)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("Endpoint(%q) = %q, %v; want %q", text, got, err, want)
		}
	}
}
