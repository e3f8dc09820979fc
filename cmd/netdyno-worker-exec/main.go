// Command netdyno-worker-exec speaks the worker contract on behalf of server
// programs that do not.
package main

import (
	"netdyno/internal/work/transport/foreign"
	"netdyno/internal/work/worker"
)

func main() { worker.Main("netdyno-worker-exec", foreign.Transport{}, foreign.Address{}) }
