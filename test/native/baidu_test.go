package native_test

import (
	"strings"
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

// Client and server of baidu_std in C++ and in Go agree on every frame, and on
// its content, which either generates by itself.
func TestBaiduCrosswise(t *testing.T) {
	for _, pair := range []struct{ server, client string }{{"baidu-std-asio", "baidu-std"}, {"baidu-std", "baidu-std-asio"}, {"baidu-std-asio", "baidu-std-asio"}} {
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

// More calls in flight than a write or a read takes, idle connections, an open loop.
func TestBaiduLoads(t *testing.T) {
	for name, load := range map[string]contract.Load{
		"many in flight": {Connections: 2, InFlight: 1000, Amount: 5000},
		"half idle":      {Connections: 8, ActiveShare: 0.5, InFlight: 2, Amount: 50},
		"poisson":        {Connections: 4, InFlight: 2, Rate: 4000, Arrival: contract.Poisson, Amount: 200},
	} {
		for _, server := range []string{"baidu-std-asio", "baidu-std"} {
			t.Run(name+", to "+server, func(t *testing.T) {
				t.Parallel()
				trial{server: server, client: "baidu-std-asio", exchange: blocks(100, 100), load: load}.loaded(t)
			})
		}
	}
}

// A client says why it cannot begin, in the words of whichever server it meets.
func TestBaiduClientExplains(t *testing.T) {
	for _, transport := range []string{"baidu-std-asio", "baidu-std"} {
		server := start(t, transport)
		listening := server.setup(contract.Setup{Role: contract.Server, Listen: "127.0.0.1:0", Exchange: blocks(100, 50)})
		for name, c := range map[string]struct {
			setup contract.Setup
			kind  contract.ErrorKind
			says  string
		}{
			"another size":    {contract.Setup{Exchange: blocks(99, 50)}, contract.Invalid, "has 99 bytes, expected 100"},
			"another reply":   {contract.Setup{Exchange: blocks(100, 51)}, contract.Invalid, "has 50 bytes, expected 51"},
			"another payload": {contract.Setup{Exchange: blocks(100, 50), Options: map[string]any{"payload": "attachment"}}, contract.Invalid, "option payload"},
			"messages":        {contract.Setup{Exchange: message("simple", "")}, contract.Unsupported, "codec proto"},
			"chunks":          {contract.Setup{Exchange: streamed(contract.StreamUp, 100, 50, 10)}, contract.Unsupported, "stream"},
			"nobody listens":  {contract.Setup{Exchange: blocks(1, 1), Peers: []string{"127.0.0.1:1"}}, contract.Peer, "refused"},
			"pooled": {contract.Setup{Exchange: blocks(100, 50), Options: map[string]any{"connection": "pooled"}, Load: contract.Load{InFlight: 2}},
				contract.Unsupported, "load.in_flight"},
		} {
			t.Run(name+", to "+transport, func(t *testing.T) {
				client := start(t, "baidu-std-asio")
				s := c.setup
				s.Role, s.Transport, s.Load.Connections = contract.Client, "baidu-std-asio", 1
				if s.Peers == nil {
					s.Peers = listening.Addresses
				}
				client.send(contract.Message{Setup: &s})
				if text := client.fatal(c.kind); !strings.Contains(text, c.says) {
					t.Errorf("the client says %q, want %q in it", text, c.says)
				}
			})
		}
	}
}
