// Command netdyno-worker-exec speaks the worker contract on behalf of programs
// that do not.
package main

import (
	"slices"

	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/foreign"
	"netdyno/internal/work/transport/hop"
	"netdyno/internal/work/transport/tool"
	"netdyno/internal/work/worker"
)

func main() {
	transports := []load.Transport{
		foreign.Transport{}, foreign.Address{},
		tool.Iperf3(), tool.Iperf2(), tool.Sockperf(), tool.Muduo(), tool.Evpp(),
	}
	worker.Main("netdyno-worker-exec", slices.Concat(transports, tool.Perftest(), hop.Transports())...)
}
