package tool

import (
	"fmt"
	"regexp"
	"strconv"
)

// What a client says in the end, each in a line of its log. Source: muduo's
// examples/pingpong/client.cc and evpp's benchmark/throughput/evpp/client.cc, onDisconnect.
var (
	pingPongBytes    = regexp.MustCompile(`(?m)\b(\d{1,18}) total bytes read\b`)
	pingPongMessages = regexp.MustCompile(`(?m)\b(\d{1,18}) total messages read\b`)
	pingPongRate     = regexp.MustCompile(`(?m)\b(\d{1,18}(?:\.\d{1,18})?(?:e[+-]\d{1,2})?) MiB/s throughput\b`)
)

// readPingPong reads the report of a client that has ended. A client sends back what it
// has read, and gives one number of bytes for both directions.
func readPingPong(name string, printed []byte) (selfReport, error) {
	values := map[string]float64{}
	for _, line := range []struct {
		value, says string
		at          *regexp.Regexp
		unit        float64
	}{
		{"received_bytes", "total bytes read", pingPongBytes, 1},
		{"messages", "total messages read", pingPongMessages, 1},
		{"received_bytes_per_s", "MiB/s throughput", pingPongRate, 1 << 20},
	} {
		found := line.at.FindSubmatch(printed)
		if found == nil {
			return selfReport{}, fmt.Errorf("read the log of %s's client: no line says %q, which it prints once all connections have ended", name, line.says)
		}
		number, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil {
			return selfReport{}, fmt.Errorf("read the log of %s's client: %q: %w", name, found[0], err)
		}
		values[line.value] = number * line.unit
	}
	moved := int64(values["received_bytes"])
	return selfReport{sent: moved, received: moved, values: values}, nil
}
