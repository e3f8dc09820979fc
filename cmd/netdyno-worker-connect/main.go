// Command netdyno-worker-connect speaks the worker contract for the transports
// of connect-go.
package main

import (
	"netdyno"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/goconnect"
	"netdyno/internal/work/worker"
)

// transports of this worker, one line each.
var transports = []load.Transport{
	goconnect.Transport{Codecs: codec.Standard()},
	goconnect.Transport{Codecs: codec.Standard(), GRPC: true},
}

func main() {
	worker.Program{Name: "netdyno-worker-connect", Transports: transports, Sources: netdyno.Sources}.Main()
}
