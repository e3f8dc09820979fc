package tool

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/said"
)

// options are those of a load generator, with some set.
func options(set map[string]string) load.Options {
	o := load.Options{"command": ""}
	for _, option := range readingOptions() {
		o[option.Name] = option.Default
	}
	for name, text := range set {
		o[name] = text
	}
	return o
}

// What programs print, as Debian's versions and those of bench-peers do.
func TestKnownProgramsAreRead(t *testing.T) {
	for _, c := range []struct {
		program, stdout, stderr string
		requests, failed        int64
	}{
		{"wrk", "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   293.13us  134.02us   7.31ms   92.31%\n  Latency Distribution\n     50%  271.00us\n     99%    1.25ms\n  3405 requests in 1.00s, 13.30GB read\nRequests/sec:   3403.44\n", "", 3405, 0},
		{"wrk", "  3405 requests in 1.00s, 13.30GB read\n  Socket errors: connect 0, read 5, write 0, timeout 2\n  Non-2xx or 3xx responses: 12\n", "", 3405, 19},
		{"h2load", "finished in 1.01s, 2207.00 req/s, 8.62GB/s\nrequests: 2207 total, 2211 started, 2207 done, 2206 succeeded, 1 failed, 0 errored, 0 timeout\nstatus codes: 2206 2xx, 0 3xx, 0 4xx, 0 5xx\ntime for request:      149us     12.90ms       452us       312us    90.12%\n", "", 2206, 1},
		{"hey", "Summary:\n  Total:\t1.0018 secs\n  Slowest:\t0.0100 secs\n  Average:\t0.0005 secs\n  Requests/sec:\t1547.2470\n\nLatency distribution:\n  50%% in 0.0004 secs\n  99%% in 0.0020 secs\n\nStatus code distribution:\n  [200]\t1550 responses\n  [404]\t3 responses\n\nError distribution:\n  [5]\tGet \"http://127.0.0.1:1/\": connection refused\n", "", 1550, 8},
		{"oha", "Summary:\n  Total:\t1002.7 ms\n  Slowest:\t7.1 ms\n  Average:\t0.25 ms\n  Requests/sec:\t8012.5\n\n  99.00% in 1.5 ms\n  99.90% in 3 ms\n\nStatus code distribution:\n  [200] 8034 responses\n\nError distribution:\n  [8] aborted due to deadline\n  [2] connection refused\n", "", 8034, 2},
		{"fortio", "# target 50% 0.00111\n# target 99% 0.0021\nCode 200 : 1717 (99.0 %)\nCode  -1 : 3 (1.0 %)\nAll done 1720 calls (plus 2 warmup) 1.165 ms avg, 1716.6 qps\n", "", 1717, 3},
		{"fortio", "", "Code 200 : 1717 (100.0 %)\n", 1717, 0}, // which stream it is differs by version
		{"ghz", "Summary:\n  Count:\t1550\n  Average:\t1.20 ms\n  Requests/sec:\t1549.90\n\nLatency distribution:\n  99 % in 2.50 ms \n\nStatus code distribution:\n  [OK]   1550 responses\n  [Internal]   2 responses\n  [Canceled]   9 responses\n", "", 1550, 2},
	} {
		r, err := newReading(c.program, options(nil))
		if err != nil {
			t.Fatal(err)
		}
		own, err := (&command{reading: r}).readPrinted(said.Output{Stdout: []byte(c.stdout), Stderr: []byte(c.stderr)})
		if err != nil || own.exchanges != c.requests || own.failed != c.failed {
			t.Errorf("%s: %d requests, %d failed, %v; want %d and %d", c.program, own.exchanges, own.failed, err, c.requests, c.failed)
		}
	}
}

func TestReadingsOfUsers(t *testing.T) {
	const printed = `{"count": 120, "bad": 3, "latency": {"p99": 2.5, "max": "7ms"}}`
	r, err := newReading("mine", options(map[string]string{
		"requests": "json:count", "errors": "json:bad", "p99": "json:latency.p99", "max": "json:latency.max", "time_unit": "ms",
	}))
	if err != nil {
		t.Fatal(err)
	}
	own, err := (&command{reading: r}).readPrinted(said.Output{Stdout: []byte(printed)})
	if err != nil || own.exchanges != 120 || own.failed != 3 {
		t.Errorf("%+v, %v", own, err)
	}
	for _, c := range []struct {
		set     map[string]string
		printed string
		want    string
	}{
		{nil, "", "option requests is empty, and how mine prints its requests is not known here (known are fortio, ghz, h2load, hey, oha, wrk)"},
		{map[string]string{"requests": "regex:(x)"}, "", `option requests: "regex:(x)" begins with neither`},
		{map[string]string{"requests": `regexp:(\d+) calls`}, "7 requests", `option requests (regexp:(\d+) calls): it matches nothing that was printed`},
		{map[string]string{"requests": "json:count"}, "no JSON", "read the output as JSON"},
	} {
		r, err := newReading("mine", options(c.set))
		if err == nil {
			_, err = (&command{reading: r}).readPrinted(said.Output{Stdout: []byte(c.printed)})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.set, err, c.want)
		}
	}
}

func TestCommandLinesAreFilledIn(t *testing.T) {
	setup := contract.Setup{
		WarmupNs: 2e8, WindowNs: 1e9, Threads: 2, Exchange: contract.Exchange{DownBytes: 1024},
		Load:    contract.Load{Connections: 50, Rate: 8000, InFlight: 4},
		Options: options(map[string]string{"command": `h2load --h1 -t {threads} -c{connections} -m {inflight} -D {seconds} --rps={rate_per_connection} "http://{server}/a b"`}),
	}
	c, err := newCommand(setup)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.refuse(setup); err != nil {
		t.Error(err)
	}
	f := flow{host: "::1", port: "80", connections: 25}
	got := strings.Join(fill(c.argv, placesOf(setup, f, int64(c.runs.Seconds()))), "|")
	if want := "h2load|--h1|-t|2|-c25|-m|4|-D|2|--rps=160|http://[::1]:80/a b"; got != want {
		t.Errorf("the arguments are %s, want %s", got, want)
	}
	for text, want := range map[string]string{
		"":                                     "option command is empty",
		"wrk -c {conections} http://{server}/": `nothing is known to fill in for {conections}; did you mean "{connections}"?`,
		"wrk 'http://{server}/":                "the quote ' is not closed",
		"wrk -t {threads} -c {slots} --rate {rate}":                       "which server to drive is not told to wrk: its command line lacks {server}",
		"wrk -t {threads} --rate {rate} http://{server}/":                 "connections=50 is not told",
		"wrk -t {threads} -c {connections} --rate {rate} http://{server}": "inflight=4 is not told",
		"wrk -c {slots} --rate {rate} http://{host}:{port}/":              "threads=2 is not told",
		"wrk -t {threads} -c {slots} http://{server}/":                    "rate=8000 is not told",
	} {
		setup.Options["command"] = text
		c, err := newCommand(setup)
		if err == nil {
			err = c.refuse(setup)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
