// Command netdyno-worker-gin speaks the worker contract for transport gin.
package main

import (
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker"

	gin "netdyno/workers/gin"
	"netdyno/workers/gin/server"
)

// transports of this worker.
var transports = []load.Transport{server.Transport{}}

func main() {
	worker.Program{Name: "netdyno-worker-gin", Transports: transports, Sources: gin.Sources}.Main()
}
