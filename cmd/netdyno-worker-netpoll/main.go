// Command netdyno-worker-netpoll speaks the worker contract for
// cloudwego/netpoll.
package main

import (
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/netpoll"
	"netdyno/internal/work/worker"
)

// transports of this worker, one line each.
var transports = []load.Transport{
	netpoll.Transport{},
}

func main() { worker.Main("netdyno-worker-netpoll", transports...) }
