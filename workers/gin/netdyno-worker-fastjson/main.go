// Command netdyno-worker-fastjson speaks the worker contract for codec
// json-fast: the transports of other workers, made with sonic and with nothing
// else. The bench takes it where a trial asks for that codec.
package main

import (
	"netdyno/internal/work/load"
	gofasthttp "netdyno/internal/work/transport/fasthttp"
	"netdyno/internal/work/transport/goconnect"
	"netdyno/internal/work/transport/gogrpc"
	"netdyno/internal/work/transport/gohttp1"
	"netdyno/internal/work/worker"

	gin "netdyno/workers/gin"
	"netdyno/workers/gin/fastjson"
)

// transports of this worker, one line each.
var transports = []load.Transport{
	fastjson.Only(gohttp1.Transport{Codecs: fastjson.Codecs()}),
	fastjson.Only(gofasthttp.Transport{Codecs: fastjson.Codecs()}),
	fastjson.Only(gogrpc.Transport{Codecs: fastjson.Codecs()}),
	fastjson.Only(goconnect.Transport{Codecs: fastjson.Codecs()}),
	fastjson.Only(goconnect.Transport{Codecs: fastjson.Codecs(), GRPC: true}),
}

func main() {
	worker.Program{Name: "netdyno-worker-fastjson", Transports: transports, Sources: gin.Sources}.Main()
}
