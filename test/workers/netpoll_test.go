//go:build !race

package workers_test

import "netdyno/internal/work/transport/netpoll"

// Built for the race detector, and only then, netpoll finds who an event is for by the number
// of its descriptor, which another connection of the process may have by the time: there make
// soak watches it with one end per process.
func init() {
	all = append(all, netpoll.Transport{})
	echoing += " netpoll"
}
