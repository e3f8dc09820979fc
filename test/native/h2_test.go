package native_test

import (
	"testing"

	"netdyno/internal/contract"
)

var nativeH2 = []string{"h2-uring", "h2-asio"}

// Client and server of h2c in C++ and in Go agree on every message, and on its
// content, which either generates by itself.
func TestH2Crosswise(t *testing.T) {
	pairs := [][2]string{{"h2-uring", "h2-asio"}, {"h2-asio", "h2-uring"}}
	for _, ours := range nativeH2 {
		pairs = append(pairs, [2]string{ours, "go-http2"}, [2]string{"go-http2", ours})
	}
	for _, pair := range pairs {
		t.Run(pair[1]+" to "+pair[0], func(t *testing.T) {
			for name, x := range httpExchanges {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					trial{server: pair[0], client: pair[1], exchange: x, load: contract.Load{Connections: 3, InFlight: 4, Amount: 12}}.run(t)
				})
			}
		})
	}
}

// Windows smaller than a body, frames larger than by default, as many streams as a
// server takes, idle connections, an open loop, a connection for every exchange.
func TestH2Loads(t *testing.T) {
	large := blocks(300_000, 300_000)
	for name, c := range map[string]trial{
		"small windows": {exchange: large, load: contract.Load{Connections: 2, InFlight: 3, Amount: 6}, options: map[string]any{"stream_window": 1000, "connection_window": 65535}},
		"large frames":  {exchange: large, load: contract.Load{Connections: 2, InFlight: 3, Amount: 6}, options: map[string]any{"max_frame": 1 << 20, "stream_window": 1 << 24}},
		"all streams":   {exchange: blocks(10, 10), load: contract.Load{Connections: 2, InFlight: 250, Amount: 1000}},
		"half idle":     {exchange: blocks(0, 1000), load: contract.Load{Connections: 8, InFlight: 2, ActiveShare: 0.5, Amount: 50}},
		"poisson":       {exchange: blocks(0, 1000), load: contract.Load{Connections: 4, InFlight: 2, Rate: 4000, Arrival: contract.Poisson, Amount: 200}},
		"fresh":         {exchange: blocks(0, 1000), load: contract.Load{Connections: 4, Amount: 50, Fresh: true}},
	} {
		for _, transport := range nativeH2 {
			t.Run(name+", "+transport, func(t *testing.T) {
				t.Parallel()
				c.server, c.client = transport, transport
				c.loaded(t)
			})
		}
	}
}
