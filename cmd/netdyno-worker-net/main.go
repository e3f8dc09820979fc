// Command netdyno-worker-net speaks the worker contract for the transports
// that need nothing but Go's standard library.
package main

import (
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/goepoll"
	"netdyno/internal/work/transport/gonet"
	"netdyno/internal/work/transport/null"
	"netdyno/internal/work/worker"
)

// transports of this worker, one line each.
var transports = []load.Transport{
	gonet.Transport{},
	goepoll.Transport{},
	null.Transport{},
}

func main() { worker.Main("netdyno-worker-net", transports...) }
