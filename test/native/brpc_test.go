package native_test

import (
	"testing"

	"netdyno/internal/contract"
)

// The sizes lie around what the codecs treat differently: an empty content, one
// buffer, a body that buffers grow for.
var baiduExchanges = map[string]contract.Exchange{
	"nothing":        blocks(0, 0),
	"small":          blocks(1, 100),
	"around a key":   blocks(992, 993), // of the content's generator
	"up":             blocks(20_000, 1),
	"around a write": blocks(16<<10-40, 16<<10+1),
	"large":          blocks(5<<20, 4<<20),
}

// Apache brpc's own library agrees with netdyno's end of its protocol, as server and
// as client, on frames and on content. Without its worker the subtests
// are skipped with a reference to native/brpc/README.md.
func TestBrpcCrosswise(t *testing.T) {
	for _, pair := range []struct{ server, client string }{
		{"brpc", "brpc"},
		{"brpc", "baidu-std"},
		{"baidu-std", "brpc"},
	} {
		t.Run(pair.client+" to "+pair.server, func(t *testing.T) {
			for name, x := range baiduExchanges {
				for _, payload := range []string{"block", "attachment"} {
					t.Run(name+", "+payload, func(t *testing.T) {
						t.Parallel()
						load := contract.Load{Connections: 3, InFlight: 4, Amount: 10}
						trial{server: pair.server, client: pair.client, exchange: x, load: load, options: map[string]any{"payload": payload}}.run(t)
					})
				}
			}
		})
	}
}

// The structured messages.
func TestBrpcMessages(t *testing.T) {
	for _, pair := range []struct{ server, client string }{{"brpc", "brpc"}, {"brpc", "baidu-std"}, {"baidu-std", "brpc"}} {
		for _, name := range []string{"simple", "complex"} {
			t.Run(name+", "+pair.client+" to "+pair.server, func(t *testing.T) {
				t.Parallel()
				load := contract.Load{Connections: 2, InFlight: 3, Amount: 50}
				trial{server: pair.server, client: pair.client, exchange: message(name, ""), load: load}.run(t)
			})
		}
	}
}

// A connection for each call, idle connections, an open loop.
func TestBrpcLoads(t *testing.T) {
	for name, load := range map[string]contract.Load{
		"fresh":     {Connections: 2, InFlight: 2, Amount: 20, Fresh: true},
		"half idle": {Connections: 8, ActiveShare: 0.5, InFlight: 2, Amount: 50},
		"poisson":   {Connections: 4, InFlight: 2, Rate: 2000, Arrival: contract.Poisson, Amount: 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trial{server: "brpc", client: "brpc", exchange: blocks(100, 100), load: load}.loaded(t)
		})
	}
}
