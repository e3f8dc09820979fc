package trial

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
)

// ReceiveQueue says that so many bytes stood unread in an end's receive queues that the
// end copies them from memory, and no longer from a core's cache.
const ReceiveQueue = "receive-queue"

// What stands in the queues, from which the flag is raised. The private cache of a core
// has 1 to 2 MiB; a queue of many connections with little in each is no queue that a
// smaller buffer could cap.
const (
	queuedInAll = 2 << 20   // bytes over all connections
	queuedEach  = 256 << 10 // bytes per connection
)

var flagReceiveQueue = Flag{
	Name:    ReceiveQueue,
	Changes: "the reader's CPU time contains copies from memory that the cache no longer held",
	Warning: "left more in their receive queues than a core's cache holds",
	Advice:  "cap the queue and see: opt.receive_buffer=256KiB, or sysctl net.ipv4.tcp_rmem",
	raise:   receiveQueue,
}

func receiveQueue(e *audit) (why string) {
	for _, end := range []contract.Role{contract.Server, contract.Client} {
		unread := e.values[string(end)+"."+metric.Unread]
		spans, ok := e.window.Spans(end)
		if !ok || unread < queuedInAll {
			continue
		}
		sockets := 0
		for _, s := range spans {
			if _, to, known := s.TCP(); known {
				sockets += to.Sockets
			}
		}
		if unread >= float64(sockets*queuedEach) {
			return fmt.Sprintf("the receive queues of the %s stood at %s on %d connections: copies miss the cache; cap them with opt.%s.receive_buffer=…",
				end, quantity.FormatBytes(unread), sockets, end)
		}
	}
	return ""
}
