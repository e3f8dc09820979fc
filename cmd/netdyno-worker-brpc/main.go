// Command netdyno-worker-brpc speaks the worker contract for baidu_std, the
// protocol of Apache brpc.
package main

import (
	"netdyno"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/brpc"
	"netdyno/internal/work/worker"
)

// transports of this worker.
var transports = []load.Transport{brpc.Transport{}}

func main() {
	worker.Program{Name: "netdyno-worker-brpc", Transports: transports, Sources: netdyno.Sources()}.Main()
}
