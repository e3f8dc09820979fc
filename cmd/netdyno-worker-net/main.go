// Command netdyno-worker-net speaks the worker contract for the transports
// that need nothing but Go's standard library.
package main

import (
	"netdyno/internal/work/transport/goepoll"
	"netdyno/internal/work/transport/gonet"
	"netdyno/internal/work/transport/null"
	"netdyno/internal/work/worker"
)

func main() {
	worker.Main("netdyno-worker-net",
		gonet.Transport{},
		goepoll.Transport{},
		null.Transport{},
	)
}
