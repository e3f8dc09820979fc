// Command netdyno-worker-baidu-std speaks the worker contract for baidu_std, the
// protocol of Apache brpc.
package main

import (
	"netdyno"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/baidu"
	"netdyno/internal/work/worker"
)

// transports of this worker.
var transports = []load.Transport{baidu.Transport{}}

func main() {
	worker.Program{Name: "netdyno-worker-baidu-std", Transports: transports, Sources: netdyno.Sources}.Main()
}
