package native_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

var (
	nativeHTTP = []string{"http1-uring", "http1-asio"}
	nativeH2   = []string{"h2-uring", "h2-asio"}
	nativeGRPC = []string{ours, oursOnAsio, "grpcpp"}
)

// ours is gRPC on nghttp2, on io_uring, and oursOnAsio on asio's loops.
const ours, oursOnAsio = "grpc-nghttp2", "grpc-nghttp2-asio"

// The sizes lie around what libraries treat differently: nothing, inlined slices, one frame,
// one read, one buffer, a receive limit of 4 MiB.
var (
	httpExchanges = map[string]contract.Exchange{
		"nothing": blocks(0, 0), "down": blocks(0, 100), "up": blocks(100, 0), "both": blocks(1000, 3000),
		"around a read": blocks(0, 128<<10-100), "around a record": blocks(16<<10, 16<<10+1), "large": blocks(1<<20+1, 4<<20),
	}
	baiduExchanges = map[string]contract.Exchange{
		"nothing": blocks(0, 0), "small": blocks(1, 100), "around a key": blocks(992, 993), "up": blocks(20_000, 1),
		"around a write": blocks(16<<10-40, 16<<10+1), "large": blocks(5<<20, 4<<20), "simple": message("simple", ""), "complex": message("complex", ""),
	}
)

// wires are those of calls, with the transports in C++ and those in Go that they meet.
var wires = []struct {
	name         string
	ours, theirs []string
	exchanges    map[string]contract.Exchange
	inFlight     int
	ways         func(x contract.Exchange, ends ...string) map[string]map[string]any // options of both ends
}{
	{"http/1.1", nativeHTTP, []string{"go-http1", "fasthttp"}, httpExchanges, 1, oneWay},
	{"h2c", nativeH2, []string{"go-http2"}, httpExchanges, 4, oneWay},
	{"grpc", nativeGRPC, []string{"go-grpc"}, exchanges, 2, modes},
	// Apache brpc's own library against netdyno's end of its protocol: native/brpc/README.md.
	{"baidu_std", []string{"brpc"}, []string{"baidu-std"}, baiduExchanges, 4, payloads},
}

func oneWay(contract.Exchange, ...string) map[string]map[string]any {
	return map[string]map[string]any{"": nil}
}

func payloads(x contract.Exchange, _ ...string) map[string]map[string]any {
	ways := map[string]map[string]any{"block": {"payload": "block"}}
	if x.Codec == "" {
		ways["attachment"] = map[string]any{"payload": "attachment"}
	}
	return ways
}

// encrypts tells whether a transport does.
func encrypts(transport string) bool { return transport != "grpcpp" && transport != "brpc" }

// pairsOf are server and client of every conversation that one in C++ is in.
func pairsOf(ours, theirs []string) (pairs [][2]string) {
	for i, one := range ours {
		pairs = append(pairs, [2]string{one, one})
		if other := ours[(i+1)%len(ours)]; other != one {
			pairs = append(pairs, [2]string{one, other})
		}
		for _, other := range theirs {
			pairs = append(pairs, [2]string{one, other}, [2]string{other, one})
		}
	}
	return pairs
}

// Client and server in C++ and in Go agree on every message and every way in which it travels,
// plain and encrypted, and on its content, which either generates by itself.
func TestCrosswise(t *testing.T) {
	certificate := workertest.Certificate(t)
	for _, w := range wires {
		for _, pair := range pairsOf(w.ours, w.theirs) {
			t.Run(fmt.Sprintf("%s/%s to %s", w.name, pair[1], pair[0]), func(t *testing.T) {
				for name, x := range w.exchanges {
					for way, options := range w.ways(x, pair[0], pair[1]) {
						p := trial{server: pair[0], client: pair[1], exchange: x, load: contract.Load{Connections: 3, InFlight: w.inFlight, Amount: 10}, options: options}
						if x.UpBytes > 4<<20 {
							p.load.Amount = 2
						}
						t.Run(name+", "+way, func(t *testing.T) {
							t.Parallel()
							p.run(t)
						})
						if encrypts(pair[0]) && encrypts(pair[1]) && (options == nil || way == "unary") {
							t.Run(name+", "+way+", encrypted", func(t *testing.T) {
								t.Parallel()
								p := p
								p.encrypted = certificate
								p.run(t)
							})
						}
					}
				}
			})
		}
	}
}

// Idle connections, an open loop, a connection for every exchange, time to think; windows
// smaller than a message, frames larger than by default, as many streams as a server takes and
// more than it keeps handlers waiting for.
func TestLoads(t *testing.T) {
	certificate := workertest.Certificate(t)
	h2 := append(slices.Clone(nativeH2), ours, oursOnAsio)
	calls := slices.Concat(nativeHTTP, nativeH2, nativeGRPC, []string{"brpc"})
	for name, c := range map[string]struct {
		of      []string
		bytes   int64
		load    contract.Load
		options map[string]any
	}{
		"half idle":      {calls, 1000, contract.Load{Connections: 8, ActiveShare: 0.5, Amount: 50}, nil},
		"poisson":        {calls, 1000, contract.Load{Connections: 4, Rate: 4000, Arrival: contract.Poisson, Amount: 200}, nil},
		"fresh":          {calls, 1000, contract.Load{Connections: 4, Amount: 30, Fresh: true}, nil},
		"thinking":       {h2, 1000, contract.Load{Connections: 4, InFlight: 2, ThinkNs: 1_000_000, Amount: 50}, nil},
		"small windows":  {h2, 300_000, contract.Load{Connections: 2, InFlight: 3, Amount: 6}, map[string]any{"stream_window": 1000, "connection_window": 65535}},
		"tiny windows":   {[]string{ours, oursOnAsio}, 1000, contract.Load{Connections: 2, InFlight: 3, Amount: 6}, map[string]any{"stream_window": 1, "connection_window": 65535}},
		"large frames":   {h2, 300_000, contract.Load{Connections: 2, InFlight: 3, Amount: 6}, map[string]any{"max_frame": 1 << 20, "stream_window": 1 << 24}},
		"all streams":    {h2, 10, contract.Load{Connections: 2, InFlight: 250, Amount: 1000}, nil},
		"many in flight": {[]string{"grpcpp"}, 100, contract.Load{Connections: 2, InFlight: 400, Amount: 2000}, nil},
	} {
		for _, transport := range c.of {
			if c.load.Fresh && transport == "grpcpp" {
				continue // which does not have it
			}
			p := trial{server: transport, client: transport, exchange: blocks(c.bytes, c.bytes), load: c.load, options: c.options}
			t.Run(name+", "+transport, func(t *testing.T) {
				t.Parallel()
				p.loaded(t)
			})
			if encrypts(transport) {
				t.Run(name+", "+transport+", encrypted", func(t *testing.T) {
					t.Parallel()
					p := p
					p.encrypted = certificate
					p.loaded(t)
				})
			}
			if strings.HasPrefix(transport, ours) && !c.load.Fresh {
				t.Run(name+", "+transport+", in chunks", func(t *testing.T) {
					t.Parallel()
					p := p
					p.exchange = streamed(contract.StreamBoth, c.bytes, c.bytes, 777)
					p.loaded(t)
				})
			}
		}
	}
}

// A client of gRPC says why it cannot begin; an empty word is of the client that has no such
// case or other words.
func TestGRPCClientsExplain(t *testing.T) {
	large, small := blocks(100, 5<<20), streamed(contract.StreamBoth, 100, 50, 40)
	limit := map[string]any{"max_message": 4 << 20}
	for name, c := range map[string]struct {
		served contract.Exchange
		setup  contract.Setup
		kind   contract.ErrorKind
		says   [2]string // of ours, of grpcpp
	}{
		"another size":    {large, contract.Setup{Exchange: blocks(99, 5<<20)}, contract.Invalid, [2]string{"has 99 bytes, expected 100", "has 99 bytes, expected 100"}},
		"another reply":   {large, contract.Setup{Exchange: blocks(100, 5<<20-1)}, contract.Invalid, [2]string{"expected 5242879", "expected 5242879"}},
		"a limit":         {large, contract.Setup{Exchange: large, Options: limit}, contract.Invalid, [2]string{"longer than option max_message", "ResourceExhausted"}},
		"another message": {large, contract.Setup{Exchange: message("simple", "")}, contract.Invalid, [2]string{"does not serve this trial", "Unimplemented"}},
		"no chunks":       {large, contract.Setup{Exchange: streamed(contract.StreamUp, 100, 5<<20, 10)}, contract.Invalid, [2]string{"/Up does not serve this trial", ""}},
		"more in chunks":  {small, contract.Setup{Exchange: streamed(contract.StreamBoth, 101, 50, 40)}, contract.Invalid, [2]string{"holds more than the 100 bytes expected", ""}},
		"less in chunks":  {small, contract.Setup{Exchange: streamed(contract.StreamBoth, 99, 50, 40)}, contract.Invalid, [2]string{"has 99 bytes, expected 100", ""}},
		"fewer expected":  {small, contract.Setup{Exchange: streamed(contract.StreamBoth, 100, 49, 40)}, contract.Invalid, [2]string{"holds more than the 49 bytes expected", ""}},
		"raw proto":       {large, contract.Setup{Exchange: message("simple", ""), Options: map[string]any{"codec": "raw"}}, contract.Unsupported, [2]string{"raw carries codec bytes alone", "raw carries codec bytes alone"}},
		"nobody listens":  {large, contract.Setup{Exchange: blocks(1, 1), Peers: []string{"127.0.0.1:1"}}, contract.Peer, [2]string{"", "refused"}},
		"another source":  {large, contract.Setup{Exchange: blocks(1, 1), Sources: []string{"127.0.0.2"}}, contract.Unsupported, [2]string{"", "127.0.0.2"}},
		"own message":     {large, contract.Setup{Exchange: contract.Exchange{Codec: "proto", Message: &contract.Structure{Name: "shop.Order"}}}, contract.Unsupported, [2]string{"", "go-grpc carries messages of your own"}},
		"bad values": {large, contract.Setup{Exchange: contract.Exchange{Codec: "proto", Message: &contract.Structure{
			Name: "simple", Up: contract.Content{Type: "netdyno.v1.Text", JSON: `{"test":1}`}}}}, contract.SetupFailed, [2]string{"", "test"}},
		"no message": {large, contract.Setup{Exchange: contract.Exchange{Codec: "proto"}}, contract.SetupFailed, [2]string{"", "exchange.message is absent"}},
		"huge":       {large, contract.Setup{Exchange: blocks(1<<30+1, 1)}, contract.SetupFailed, [2]string{"", "expected 0 to 1073741824"}},
	} {
		for _, transport := range nativeGRPC {
			says := c.says[0]
			if transport == "grpcpp" {
				says = c.says[1]
			}
			if says == "" {
				continue
			}
			t.Run(transport+"/"+name, func(t *testing.T) {
				t.Parallel()
				server, client := start(t, transport), start(t, transport)
				setup := c.setup
				setup.Role, setup.Load, setup.Transport = contract.Client, contract.Load{Connections: 1}, transport
				if listening := server.setup(contract.Setup{Role: contract.Server, Listen: "127.0.0.1:0", Exchange: c.served}); setup.Peers == nil {
					setup.Peers = listening.Addresses
				}
				client.send(contract.Message{Setup: &setup})
				if text := client.fatal(c.kind); !strings.Contains(text, says) {
					t.Errorf("the client says %q, want %q in it", text, says)
				}
			})
		}
	}
}
