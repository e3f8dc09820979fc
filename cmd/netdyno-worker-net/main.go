// Command netdyno-worker-net speaks the worker contract for the transports
// that need nothing but Go's standard library, and on behalf of programs that do not
// speak it.
package main

import (
	"slices"

	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/foreign"
	"netdyno/internal/work/transport/goepoll"
	"netdyno/internal/work/transport/gonet"
	"netdyno/internal/work/transport/null"
	"netdyno/internal/work/transport/tool"
	"netdyno/internal/work/worker"
)

// transports of this worker, one line each.
var transports = []load.Transport{
	gonet.Transport{},
	goepoll.Transport{},
	null.Transport{},
}

// programs are those of others, one line each. They run as processes of their own, so what
// is here of them moves no figure of the transports above; alone it would be a program
// that is Go's runtime and little else.
func programs() []load.Transport {
	return append([]load.Transport{
		foreign.Transport{},
		foreign.Address{},
		tool.Iperf3(),
		tool.Iperf2(),
		tool.Sockperf(),
	}, tool.Perftest()...)
}

func main() { worker.Main("netdyno-worker-net", slices.Concat(transports, programs())...) }
