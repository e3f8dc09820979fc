// Command netdyno-worker-grpc speaks the worker contract for gRPC by
// google.golang.org/grpc.
package main

import (
	"netdyno"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/gogrpc"
	"netdyno/internal/work/worker"
)

// transports of this worker.
var transports = []load.Transport{gogrpc.Transport{Codecs: codec.Standard()}}

func main() {
	worker.Program{Name: "netdyno-worker-grpc", Transports: transports, Sources: netdyno.Sources}.Main()
}
