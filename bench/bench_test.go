package main

import (
	"slices"
	"strings"
	"testing"
)

func TestPairs(t *testing.T) {
	got := pairs([]byte(`goos: linux
pkg: netdyno/internal/work/transport/gohttp1
BenchmarkClient/read=all-2         	    1000	     58000 ns/op	   4321 B/op	      12 allocs/op
BenchmarkClient/lonely-2           	    1000	     58000 ns/op	   1 B/op	      1 allocs/op
BenchmarkBareClient/read=all-2     	    1000	     57000 ns/op	 72.05 MB/s	   4300 B/op	      11 allocs/op
PASS
pkg: netdyno/internal/work/transport/gogrpc
BenchmarkBareClient-2     	    1000	     57000 ns/op	   8 B/op	      3 allocs/op
BenchmarkClient     	    1000	     57000 ns/op	   7 B/op	      2 allocs/op
BenchmarkOther-2     	    1000	     57000 ns/op	   7 B/op	      2 allocs/op
BenchmarkExchange/down_4MiB/ours-2     	    1000	     57000 ns/op	   70 B/op	      20 allocs/op
BenchmarkExchange/down_4MiB/bare-2     	    1000	     57000 ns/op	   71 B/op	      21 allocs/op
`))
	want := []pair{
		{"gohttp1/read=all", perExchange{"4321", "12"}, perExchange{"4300", "11"}},
		{"gogrpc", perExchange{"7", "2"}, perExchange{"8", "3"}},
		{"gogrpc/down_4MiB", perExchange{"70", "20"}, perExchange{"71", "21"}},
	}
	if !slices.Equal(got, want) {
		t.Errorf("pairs are %+v, want %+v", got, want)
	}
}

// What the generators print, as Debian's versions do.
func TestGeneratorsAreUnderstood(t *testing.T) {
	for _, c := range []struct {
		name, text     string
		how            said
		rate, requests float64
	}{
		{"wrk", "  2 threads\n  3405 requests in 1.00s, 13.30GB read\nRequests/sec:   3403.44\nTransfer/sec:     13.3GB\n", wrkSays, 3403.44, 3405},
		{"h2load", "finished in 1.01s, 2207.00 req/s, 8.62GB/s\nrequests: 2207 total, 2211 started, 2207 done, 2206 succeeded, 0 failed, 0 errored, 0 timeout\nstatus codes: 2207 2xx, 0 3xx, 0 4xx, 0 5xx\n", h2loadSays, 2207, 2206},
		{"hey", "Summary:\n  Total:\t1.0018 secs\n  Requests/sec:\t1547.2470\n\nStatus code distribution:\n  [200]\t1550 responses\n", heySays, 1547.247, 1550},
		{"oha", "Summary:\n  Total:\t1002.7 ms\n  Requests/sec:\t8012.5\n\nStatus code distribution:\n  [200] 8034 responses\n\nError distribution:\n  [8] aborted due to deadline\n", ohaSays, 8012.5, 8034},
		{"fortio", "Code 200 : 1717 (100.0 %)\nAll done 1717 calls (plus 2 warmup) 1.165 ms avg, 1716.6 qps\n", fortioSays, 1716.6, 1717},
		{"ghz", "Summary:\n  Count:\t1550\n  Requests/sec:\t1549.90\n\nStatus code distribution:\n  [OK]   1550 responses\n", ghzSays, 1549.9, 1550},
		{"sockperf", "[Total Run] RunTime=1.002 sec; Warm up time=400 msec; SentMessages=20452; ReceivedMessages=20451\n# dropped messages = 0;\nSummary: Latency is 21.946 usec\n", sockperfSays, 21.946, 20451},
	} {
		rate, err := first(c.how.rate, []byte(c.text))
		requests, err2 := first(c.how.requests, []byte(c.text))
		if err != nil || err2 != nil || rate != c.rate || requests != c.requests || c.how.bad.MatchString(c.text) {
			t.Errorf("%s: rate %v, requests %v, bad %q, %v %v", c.name, rate, requests, c.how.bad.FindString(c.text), err, err2)
		}
	}
	for name, c := range map[string]struct {
		how  said
		text string
	}{
		"wrk 404":        {wrkSays, "  Non-2xx or 3xx responses: 12\n"},
		"wrk reset":      {wrkSays, "  Socket errors: connect 0, read 5, write 0, timeout 0\n"},
		"h2load failed":  {h2loadSays, "0 succeeded, 12 failed, 12 errored, 0 timeout"},
		"h2load 404":     {h2loadSays, "status codes: 0 2xx, 0 3xx, 7 4xx, 0 5xx"},
		"hey 404":        {heySays, "  [404]\t12 responses\n"},
		"hey refused":    {heySays, "Error distribution:\n  [5]\tGet: connection refused\n"},
		"oha refused":    {ohaSays, "Error distribution:\n  [50] Connection refused\n"},
		"fortio refused": {fortioSays, "Code  -1 : 12 (100.0 %)\n"},
		"ghz refused":    {ghzSays, "  [InvalidArgument]   12 responses\n"},
		"sockperf lost":  {sockperfSays, "# dropped messages = 3;"},
	} {
		if !c.how.bad.MatchString(c.text) {
			t.Errorf("%s is taken for success", name)
		}
	}
	if _, err := first(wrkSays.rate, []byte(strings.Repeat("x", 10))); err == nil {
		t.Error("a rate is found where there is none")
	}
}

func TestIperf2IsSummed(t *testing.T) {
	const two = "19700101000000,127.0.0.1,42948,127.0.0.1,5999,3,0.0-1.0,435683388,3425658531\n" +
		"19700101000000,127.0.0.1,42958,127.0.0.1,5999,4,0.0-1.0,416415804,3271796101\n"
	bytes, bits, err := sumOfCSV([]byte(two), 2)
	if err != nil || bytes != 852099192 || bits != 6697454632 {
		t.Errorf("got %v bytes, %v bit/s, %v", bytes, bits, err)
	}
	for out, want := range map[string]string{two[:70]: "1 lines", "": "1 lines", "a\nb": "comma-separated", "1,x\n1,2": "invalid syntax", "0,0\n0,0": "0 bytes"} {
		if _, _, err := sumOfCSV([]byte(out), 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", out, err, want)
		}
	}
}

func TestIperf3IsSummed(t *testing.T) {
	const report = `{"end":{"sum_received":{"bytes":852099192,"bits_per_second":6697454632}}}`
	bytes, bits, err := sumOfJSON([]byte(report), 2)
	if err != nil || bytes != 852099192 || bits != 6697454632 {
		t.Errorf("got %v bytes, %v bit/s, %v", bytes, bits, err)
	}
	for out, want := range map[string]string{"": "unexpected end", `{"error":"busy"}`: "0 bytes"} {
		if _, _, err := sumOfJSON([]byte(out), 2); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "nil") {
			t.Errorf("%q: %v, want an error with %q", out, err, want)
		}
	}
}

// What ucx_perftest prints with -f -v, as Debian's version 1.13.1 does.
func TestPerftestRate(t *testing.T) {
	const names = "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n"
	rate, err := perftestRate(names + "20000,5.418,5.554,5.554,11253.54,11000.50,180057,180057\n")
	if err != nil || rate != 11000.5*(1<<20) {
		t.Errorf("the rate is %v (%v), want the overall one", rate, err)
	}
	for _, odd := range []string{"", names, names + "20000,5.4\n", names + "1,2,3,4,5,none,7,8\n", names + "1,2,3,4,5,0,7,8\n", "a,b\n1,2\n"} {
		if rate, err := perftestRate(odd); err == nil {
			t.Errorf("%q has a rate, %v", odd, rate)
		}
	}
}
