// Command netdyno-worker-http speaks the worker contract for HTTP by Go's
// standard library, and for WebSocket, which begins as HTTP.
package main

import (
	"netdyno"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/gohttp1"
	"netdyno/internal/work/transport/gohttp2"
	"netdyno/internal/work/transport/gowebsocket"
	"netdyno/internal/work/worker"
)

// transports of this worker, one line each.
var transports = []load.Transport{
	gohttp1.Transport{Codecs: codec.Standard()},
	gohttp2.Transport{Codecs: codec.Standard()},
	gowebsocket.Transport{Codecs: codec.Standard()},
}

func main() {
	worker.Program{Name: "netdyno-worker-http", Transports: transports, Sources: netdyno.Sources}.Main()
}
