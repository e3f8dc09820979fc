package bench

import (
	"testing"

	"netdyno/internal/run/study"
)

// Connections that take source addresses and listeners in turn, as the contract says, find
// a port on every way; one address fewer would not do.
func TestSourceAddressesSuffice(t *testing.T) {
	most := func(connections, sources, listeners int) int {
		on, most := map[[2]int]int{}, 0
		for i := range connections {
			way := [2]int{i % sources, i % listeners}
			on[way]++
			most = max(most, on[way])
		}
		return most
	}
	for _, c := range []struct{ connections, servers, listeners, want int }{
		{0, 1, 1, 0}, {20_000, 1, 1, 1}, {20_001, 1, 1, 2}, {40_000, 1, 2, 1}, {25_000, 2, 1, 1},
		{60_000, 2, 1, 3}, {80_000, 2, 2, 1}, {100_000, 3, 2, 1}, {100_000, 1, 4, 3}, {200_000, 1, 1, 10},
	} {
		w := study.Work{Servers: c.servers, Listeners: c.listeners}
		got := SourcesFor(w, c.connections)
		if got != c.want {
			t.Errorf("%+v: %d source addresses", c, got)
		}
		if got > 0 && most(c.connections, got, Listeners(w)) > portsPerWay {
			t.Errorf("%+v: a way of %d addresses has %d connections", c, got, most(c.connections, got, Listeners(w)))
		}
		if got > 1 && most(c.connections, got-1, Listeners(w)) <= portsPerWay {
			t.Errorf("%+v: %d addresses would do", c, got-1)
		}
	}
}
