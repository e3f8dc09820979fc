// Command netdyno-worker-brpc speaks the worker contract for baidu_std, the
// protocol of Apache brpc.
package main

import (
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/brpc"
	"netdyno/internal/work/worker"
)

// transports of this worker.
var transports = []load.Transport{brpc.Transport{}}

func main() { worker.Main("netdyno-worker-brpc", transports...) }
