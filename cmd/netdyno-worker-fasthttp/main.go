// Command netdyno-worker-fasthttp speaks the worker contract for
// valyala/fasthttp.
package main

import (
	"netdyno"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	gofasthttp "netdyno/internal/work/transport/fasthttp"
	"netdyno/internal/work/worker"
)

// transports of this worker, one line each.
var transports = []load.Transport{
	gofasthttp.Transport{Codecs: codec.Standard()},
}

func main() {
	worker.Program{Name: "netdyno-worker-fasthttp", Transports: transports, Sources: netdyno.Sources}.Main()
}
