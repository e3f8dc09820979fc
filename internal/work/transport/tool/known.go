package tool

import (
	"maps"
	"slices"
	"strings"
)

// known is where a program prints its figures, as options write it.
type known struct{ requests, errors string }

// knownReadings are programs by name. Each pattern is tried on a recorded output in
// known_test.go.
var knownReadings = map[string]known{
	"wrk": {
		requests: `regexp:(?m)^ *(\d+) requests in `,
		errors:   `regexp:Non-2xx or 3xx responses: (\d+)|Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`,
	},
	"h2load": {
		requests: `regexp:(?m)^requests: .* (\d+) succeeded`,
		errors:   `regexp:(?m)^requests: .* (\d+) failed, (\d+) errored, (\d+) timeout|(?m)^status codes: \d+ 2xx, \d+ 3xx, (\d+) 4xx, (\d+) 5xx`,
	},
	"hey": {
		requests: `regexp:\[2\d\d\]\s+(\d+) responses`,
		errors:   `regexp:\[[345]\d\d\]\s+(\d+) responses|(?m)^  \[(\d+)\]\t(?:Get|Post|Put|Delete|Head)\b`,
	},
	"oha": {
		requests: `regexp:\[2\d\d\]\s+(\d+) responses`,
		// Not those that its own end aborts.
		errors: `regexp:\[[345]\d\d\]\s+(\d+) responses|(?m)^ +\[(\d+)\] (?:[^a\d]|a[^b])`,
	},
	"fortio": {
		requests: `regexp:(?m)^Code +2\d\d : (\d+)`,
		errors:   `regexp:(?m)^Code +(?:-1|[345]\d\d) : (\d+)`,
	},
	"ghz": {
		requests: `regexp:\[OK\]\s+(\d+) responses`,
		// Not those that its own end aborts, which are Canceled and Unavailable.
		errors: `regexp:\[(?:Unknown|InvalidArgument|Internal|Unimplemented|DeadlineExceeded|ResourceExhausted)\]\s+(\d+) responses`,
	},
}

// knownNames lists the programs.
func knownNames() string { return strings.Join(slices.Sorted(maps.Keys(knownReadings)), ", ") }
