// Command netdyno-worker-exec speaks the worker contract on behalf of programs
// that do not.
package main

import (
	"netdyno/internal/work/transport/foreign"
	"netdyno/internal/work/worker"
)

func main() {
	worker.Main("netdyno-worker-exec",
		foreign.Transport{}, foreign.Address{},
		foreign.Iperf3(), foreign.Iperf2(), foreign.Sockperf(),
	)
}
