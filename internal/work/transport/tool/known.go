package tool

import (
	"maps"
	"slices"
	"strings"
)

// known is where a program prints its figures, as options write it. Times that need a
// flag to be printed are left out where that is missing.
type known struct {
	requests, errors string
	times            map[string]string
}

// knownReadings are programs by name. Each pattern is tried on a recorded output in
// known_test.go.
var knownReadings = map[string]known{
	"wrk": {
		requests: `regexp:(?m)^ *(\d+) requests in `,
		errors:   `regexp:Non-2xx or 3xx responses: (\d+)|Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`,
		times: map[string]string{ // with --latency but for mean and max
			"mean": `regexp:(?m)^ +Latency +([\d.]+[mun]?s)`, "max": `regexp:(?m)^ +Latency +\S+ +\S+ +([\d.]+[mun]?s)`,
			"p50": `regexp:(?m)^ +50% +([\d.]+[mun]?s)`, "p90": `regexp:(?m)^ +90% +([\d.]+[mun]?s)`, "p99": `regexp:(?m)^ +99% +([\d.]+[mun]?s)`,
		},
	},
	"h2load": {
		requests: `regexp:(?m)^requests: .* (\d+) succeeded`,
		errors:   `regexp:(?m)^requests: .* (\d+) failed, (\d+) errored, (\d+) timeout|(?m)^status codes: \d+ 2xx, \d+ 3xx, (\d+) 4xx, (\d+) 5xx`,
		times:    map[string]string{"mean": `regexp:(?m)^time for request: +\S+ +\S+ +([\d.]+[mun]?s)`, "max": `regexp:(?m)^time for request: +\S+ +([\d.]+[mun]?s)`},
	},
	"hey": {
		requests: `regexp:\[2\d\d\]\s+(\d+) responses`,
		errors:   `regexp:\[[345]\d\d\]\s+(\d+) responses|(?m)^  \[(\d+)\]\t(?:Get|Post|Put|Delete|Head)\b`,
		times: map[string]string{
			"mean": `regexp:Average:\s+([\d.]+ secs)`, "max": `regexp:Slowest:\s+([\d.]+ secs)`,
			"p50": `regexp:50%+ in ([\d.]+ secs)`, "p90": `regexp:90%+ in ([\d.]+ secs)`, "p99": `regexp:99%+ in ([\d.]+ secs)`,
		},
	},
	"oha": {
		requests: `regexp:\[2\d\d\]\s+(\d+) responses`,
		// Not those that its own end aborts.
		errors: `regexp:\[[345]\d\d\]\s+(\d+) responses|(?m)^ +\[(\d+)\] (?:[^a\d]|a[^b])`,
		times: map[string]string{
			"mean": `regexp:Average:\s+([\d.]+ [mun]?s)`, "max": `regexp:Slowest:\s+([\d.]+ [mun]?s)`,
			"p50": `regexp:50\.00% in ([\d.]+ [mun]?s)`, "p90": `regexp:90\.00% in ([\d.]+ [mun]?s)`,
			"p99": `regexp:99\.00% in ([\d.]+ [mun]?s)`, "p999": `regexp:99\.90% in ([\d.]+ [mun]?s)`,
		},
	},
	"fortio": {
		requests: `regexp:(?m)^Code +2\d\d : (\d+)`,
		errors:   `regexp:(?m)^Code +(?:-1|[345]\d\d) : (\d+)`,
		times: map[string]string{
			"mean": `regexp:(?m)^All done .*?([\d.]+ ms) avg`, "p50": `regexp:(?m)^# target 50% ([\d.]+)`, "p90": `regexp:(?m)^# target 90% ([\d.]+)`,
			"p99": `regexp:(?m)^# target 99% ([\d.]+)`, "p999": `regexp:(?m)^# target 99.9% ([\d.]+)`,
		},
	},
	"ghz": {
		requests: `regexp:\[OK\]\s+(\d+) responses`,
		// Not those that its own end aborts, which are Canceled and Unavailable.
		errors: `regexp:\[(?:Unknown|InvalidArgument|Internal|Unimplemented|DeadlineExceeded|ResourceExhausted)\]\s+(\d+) responses`,
		times: map[string]string{
			"mean": `regexp:Average:\s+([\d.]+ [mun]?s)`, "max": `regexp:Slowest:\s+([\d.]+ [mun]?s)`,
			"p50": `regexp:50 % in ([\d.]+ [mun]?s)`, "p90": `regexp:90 % in ([\d.]+ [mun]?s)`, "p99": `regexp:99 % in ([\d.]+ [mun]?s)`,
		},
	},
}

// knownNames lists the programs.
func knownNames() string { return strings.Join(slices.Sorted(maps.Keys(knownReadings)), ", ") }
