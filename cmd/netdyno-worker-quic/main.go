// Command netdyno-worker-quic speaks the worker contract for quic-go: HTTP/3, and
// bare streams.
package main

import (
	"netdyno"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/gohttp3"
	"netdyno/internal/work/transport/goquic"
	"netdyno/internal/work/worker"
)

// transports of this worker, one line each.
var transports = []load.Transport{
	gohttp3.Transport{Codecs: codec.Standard()},
	goquic.Transport{},
}

func main() {
	worker.Program{Name: "netdyno-worker-quic", Transports: transports, Sources: netdyno.Sources}.Main()
}
