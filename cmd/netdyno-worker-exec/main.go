// Command netdyno-worker-exec speaks the worker contract on behalf of programs
// that do not.
package main

import (
	"netdyno/internal/work/transport/foreign"
	"netdyno/internal/work/transport/tool"
	"netdyno/internal/work/worker"
)

func main() {
	worker.Main("netdyno-worker-exec",
		foreign.Transport{}, foreign.Address{},
		tool.Iperf3(), tool.Iperf2(), tool.Sockperf(),
	)
}
