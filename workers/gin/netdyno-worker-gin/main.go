// Command netdyno-worker-gin speaks the worker contract for transport gin.
package main

import (
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker"

	"netdyno/workers/gin/server"
)

// transports of this worker.
var transports = []load.Transport{server.Transport{}}

func main() { worker.Main("netdyno-worker-gin", transports...) }
