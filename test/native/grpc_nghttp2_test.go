package native_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
)

// ours is gRPC on nghttp2.
const ours = "grpc-nghttp2"

// The client of grpc-nghttp2 and its server agree with those of other libraries on
// every way in which an exchange travels.
func TestGRPCNghttp2Crosswise(t *testing.T) {
	for _, pair := range [][2]string{{ours, ours}, {ours, "go-grpc"}, {"go-grpc", ours}, {ours, "grpcpp"}, {"grpcpp", ours}} {
		t.Run(pair[1]+" to "+pair[0], func(t *testing.T) {
			agree(t, pair[0], pair[1], 4)
		})
	}
}

// Windows smaller than a message, frames larger than by default, as many streams as a
// server takes, idle connections, an open loop, time to think, a connection for every
// exchange: on streams that stay, and in chunks.
func TestGRPCNghttp2Loads(t *testing.T) {
	for name, c := range map[string]struct {
		bytes   int64
		load    contract.Load
		options map[string]any
	}{
		"small windows": {300_000, contract.Load{Connections: 2, InFlight: 3, Amount: 6}, map[string]any{"stream_window": 1000, "connection_window": 65535}},
		"tiny windows":  {1000, contract.Load{Connections: 2, InFlight: 3, Amount: 6}, map[string]any{"stream_window": 1, "connection_window": 65535}},
		"large frames":  {300_000, contract.Load{Connections: 2, InFlight: 3, Amount: 6}, map[string]any{"max_frame": 1 << 20, "stream_window": 1 << 24}},
		"all streams":   {10, contract.Load{Connections: 2, InFlight: 250, Amount: 1000}, nil},
		"half idle":     {1000, contract.Load{Connections: 8, InFlight: 2, ActiveShare: 0.5, Amount: 50}, nil},
		"poisson":       {1000, contract.Load{Connections: 4, InFlight: 2, Rate: 4000, Arrival: contract.Poisson, Amount: 200}, nil},
		"thinking":      {1000, contract.Load{Connections: 4, InFlight: 2, ThinkNs: 1_000_000, Amount: 50}, nil},
		"fresh":         {1000, contract.Load{Connections: 4, Amount: 50, Fresh: true}, nil},
	} {
		for way, x := range map[string]contract.Exchange{
			"a stream": blocks(c.bytes, c.bytes), "chunks": streamed(contract.StreamBoth, c.bytes, c.bytes, 777),
		} {
			for _, kind := range []string{"proto", "raw"} {
				t.Run(name+", "+way+", "+kind, func(t *testing.T) {
					t.Parallel()
					options := map[string]any{"codec": kind}
					for k, v := range c.options {
						options[k] = v
					}
					if x.Stream == "" {
						options["mode"] = "stream"
					}
					trial{server: ours, client: ours, exchange: x, load: c.load, options: options}.loaded(t)
				})
			}
		}
	}
}

// A client of grpc-nghttp2 says why it cannot begin.
func TestGRPCNghttp2ClientExplains(t *testing.T) {
	t.Parallel()
	listening := start(t, ours).setup(contract.Setup{Role: contract.Server, Listen: "127.0.0.1:0", Exchange: blocks(100, 5<<20)})
	chunked := start(t, ours).setup(contract.Setup{Role: contract.Server, Listen: "127.0.0.1:0", Exchange: streamed(contract.StreamBoth, 100, 50, 40)})
	stream := map[string]any{"mode": "stream"}
	for name, c := range map[string]struct {
		setup contract.Setup
		kind  contract.ErrorKind
		says  string
	}{
		"another size":  {contract.Setup{Exchange: blocks(99, 5<<20), Options: stream}, contract.Invalid, "has 99 bytes, expected 100"},
		"another reply": {contract.Setup{Exchange: blocks(100, 5<<20-1), Options: stream}, contract.Invalid, "expected 5242879"},
		"a limit": {contract.Setup{Exchange: blocks(100, 5<<20), Options: map[string]any{"mode": "stream", "max_message": 4 << 20}},
			contract.Invalid, "longer than option max_message"},
		"another message": {contract.Setup{Exchange: message("simple", ""), Options: stream}, contract.Invalid, "TalkSimple does not serve this trial"},
		"no chunks":       {contract.Setup{Exchange: streamed(contract.StreamUp, 100, 5<<20, 10)}, contract.Invalid, "/Up does not serve this trial"},
		"more in chunks": {contract.Setup{Exchange: streamed(contract.StreamBoth, 101, 50, 40), Peers: chunked.Addresses},
			contract.Invalid, "holds more than the 100 bytes expected"},
		"less in chunks": {contract.Setup{Exchange: streamed(contract.StreamBoth, 99, 50, 40), Peers: chunked.Addresses},
			contract.Invalid, "has 99 bytes, expected 100"},
		"fewer expected": {contract.Setup{Exchange: streamed(contract.StreamBoth, 100, 49, 40), Peers: chunked.Addresses},
			contract.Invalid, "holds more than the 49 bytes expected"},
		"raw proto": {contract.Setup{Exchange: message("simple", ""), Options: map[string]any{"codec": "raw"}}, contract.Unsupported,
			"raw carries codec bytes alone"},
		"chunks on a stream": {contract.Setup{Exchange: streamed(contract.StreamUp, 1, 1, 1), Options: stream}, contract.Unsupported, "set one of them"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := start(t, ours)
			c.setup.Role, c.setup.Load, c.setup.Transport = contract.Client, contract.Load{Connections: 1}, ours
			if c.setup.Peers == nil {
				c.setup.Peers = listening.Addresses
			}
			client.send(contract.Message{Setup: &c.setup})
			if text := client.fatal(c.kind); !strings.Contains(text, c.says) {
				t.Errorf("the client says %q, want %q in it", text, c.says)
			}
		})
	}
}
