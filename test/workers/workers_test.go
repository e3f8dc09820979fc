// Package workers_test holds the transports of all workers in Go to the same tables, each end
// a worker in this process: what they carry, under which loads, and what they say of ends that
// do not fit. What their contract has netdyno check looks at, and TestConforms demands here.
package workers_test

import (
	"cmp"
	"flag"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/run/check/checktest"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/baidu"
	gofasthttp "netdyno/internal/work/transport/fasthttp"
	"netdyno/internal/work/transport/goconnect"
	"netdyno/internal/work/transport/goepoll"
	"netdyno/internal/work/transport/gogrpc"
	"netdyno/internal/work/transport/gohttp1"
	"netdyno/internal/work/transport/gohttp2"
	"netdyno/internal/work/transport/gohttp3"
	"netdyno/internal/work/transport/gonet"
	"netdyno/internal/work/transport/goquic"
	"netdyno/internal/work/transport/gowebsocket"
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/programs"
)

// beside is how many tests run at once: most of them wait.
const beside = "4"

func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", beside); err != nil {
		panic(err)
	}
	m.Run()
}

var codecs = codec.Standard()

// all are the transports in Go: any client meets any server of its wire.
var all = []load.Transport{
	gonet.Transport{}, goepoll.Transport{},
	gowebsocket.Transport{Codecs: codecs}, gohttp1.Transport{Codecs: codecs}, gofasthttp.Transport{Codecs: codecs}, gohttp2.Transport{Codecs: codecs}, gohttp3.Transport{Codecs: codecs},
	gogrpc.Transport{Codecs: codecs}, goconnect.Transport{Codecs: codecs, GRPC: true}, goconnect.Transport{Codecs: codecs},
	baidu.Transport{}, goquic.Transport{},
}

// echoing are those of wire echo, by spaces.
var echoing = "go-net go-epoll"

// The program of each worker, those of wire echo in C++ apart (internal/run/check), and how many cases of netdyno check it passes at least: cases
// of wires that it does not speak are skipped.
func TestConforms(t *testing.T) {
	t.Parallel()
	for name, least := range map[string]int{
		"baidu-std": 34, "connect": 56, "fasthttp": 34, "grpc": 34, "http": 56, "netpoll": 34, "quic": 56,
		"http1-uring": 34, "http1-asio": 34, "h2-uring": 34, "h2-asio": 34, "grpc-nghttp2": 34, "grpc-nghttp2-asio": 34, "grpcpp": 34,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checktest.Passes(t, programs.Path(t, "netdyno-worker-"+name), least)
		})
	}
}

// A trial is between two ends.
type trial = workertest.Ends

var (
	blocks  = workertest.Blocks
	message = workertest.Message
)

func streamed(s contract.Stream, up, down, chunk int64) contract.Exchange {
	return contract.Exchange{UpBytes: up, DownBytes: down, Stream: s, ChunkBytes: chunk}
}

// option is the options of an end: names and their values.
func option(pairs ...any) map[string]any {
	options := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		options[pairs[i].(string)] = pairs[i+1]
	}
	return options
}

// describe is what a transport says of itself.
func describe(t *testing.T, name string) contract.Transport {
	t.Helper()
	for _, of := range all {
		if d := of.Describe(); d.Name == name {
			return d
		}
	}
	t.Fatalf("there is no transport %s", name)
	return contract.Transport{}
}

// between is a trial of both ends of one transport, encrypted where that always is.
func between(t *testing.T, name string, x contract.Exchange) trial {
	t.Helper()
	p := trial{Of: name, By: name, Exchange: x, Load: contract.Load{Connections: 1}}
	if describe(t, name).Encrypted {
		p.TLS = workertest.Certificate(t)
	}
	return p
}

// A kind is what exchanges of a wire are like, the extremes of size and what libraries treat
// differently among them: nothing, one frame, above the buffers and above default limits.
type kind = map[string]contract.Exchange

var (
	echoes = kind{"1 B": blocks(1, 1), "100 B": blocks(100, 100), "3 MiB": blocks(3<<20, 3<<20)}
	bulk   = kind{
		"up": streamed(contract.StreamUp, 300_001, 10, 70_000), "down": streamed(contract.StreamDown, 10, 5<<20, 0),
		"both": streamed(contract.StreamBoth, 65_537, 65_537, 65_536), "a byte": streamed(contract.StreamBoth, 1, 1, 0),
	}
	calls = kind{
		"nothing": blocks(0, 0), "down": blocks(0, 100), "up": blocks(100, 0), "both": blocks(100, 1000), "4 MiB down": blocks(0, 4<<20), "4 MiB up": blocks(4<<20, 10),
	}
	few      = kind{"nothing": blocks(0, 0), "both": blocks(100, 1000), "large": blocks(200_000, 500_000)}
	vary     = kind{"sizes that vary": workertest.Drawn()}
	messages = kind{
		"simple": message("proto", "simple"), "proto": message("proto", "complex"), "json": message("json", "complex"),
	}
	protobuf = kind{"simple": messages["simple"], "complex": messages["proto"]}
	chunks   = kind{
		"chunks up": streamed(contract.StreamUp, 1<<20+1, 10, 64<<10), "chunks down": streamed(contract.StreamDown, 10, 1<<20+1, 10_000),
		"chunks both": streamed(contract.StreamBoth, 300_000, 200_000, 0), "no chunk": streamed(contract.StreamBoth, 0, 0, 64<<10),
		"chunks of proto": inChunks(message("proto", "complex")), "chunks of json": inChunks(message("json", "complex")),
	}
)

func inChunks(x contract.Exchange) contract.Exchange {
	x.Stream, x.ChunkBytes = contract.StreamBoth, 7
	return x
}

// ways are servers with the clients that they meet, and how exchanges travel between them:
// options of both ends, or of the client alone.
var ways = []struct {
	servers, clients string // by spaces; all of wire echo where they are empty
	inFlight         int
	both, client     map[string]any
	kinds            []kind
}{
	{"", "", 1, nil, nil, []kind{echoes}},
	{"", "", 4, nil, nil, []kind{echoes}},
	{"go-net go-epoll", "go-net go-epoll", 3, nil, nil, []kind{bulk}},
	{"go-net", "go-net", 2, option("send", "sendfile"), nil, []kind{bulk}},
	{"go-net", "go-net", 1, option("receive", "truncate"), nil, []kind{bulk}},
	{"go-http1 fasthttp", "go-http1 fasthttp", 1, nil, nil, []kind{calls, vary, messages}},
	{"go-http1", "go-http1", 1, nil, option("read", "pooled"), []kind{few, vary, messages}},
	{"go-websocket", "go-websocket", 1, nil, nil, []kind{calls, messages}},
	{"go-http2", "go-http2", 3, nil, nil, []kind{calls, vary, messages}},
	{"go-http2", "go-http2", 3, nil, option("read", "pooled"), []kind{few, messages}},
	{"go-http3", "go-http3", 3, nil, nil, []kind{calls, vary, messages}},
	{"go-http3", "go-http3", 3, nil, option("read", "pooled"), []kind{few, messages}},
	{"go-grpc go-connect-grpc", "go-grpc go-connect-grpc", 2, nil, nil, []kind{calls, vary, messages}},
	{"go-grpc", "go-grpc", 2, nil, nil, []kind{chunks}},
	{"go-grpc", "go-grpc", 2, option("mode", "stream"), nil, []kind{few, messages}},
	{"go-grpc", "go-grpc", 2, option("codec", "raw"), nil, []kind{few}},
	{"go-grpc", "go-grpc", 2, option("codec", "raw", "mode", "stream"), nil, []kind{few}},
	{"go-grpc", "go-grpc", 5, option("buffer_pool", "tiered", "write_buffer", 0.0, "shared_write_buffer", false, "window", 1048576.0), nil, []kind{few, chunks}},
	{"go-grpc", "go-grpc", 2, nil, option("compression", "gzip"), []kind{few, messages, chunks}},
	{"go-connect", "go-connect", 1, option("compression", "none"), nil, []kind{few, vary, messages}},
	{"go-connect-grpc", "go-connect-grpc", 5, nil, option("stream_window", 65536.0, "connection_window", 1e6, "max_frame", 32768.0), []kind{few}},
	{"baidu-std", "baidu-std", 5, nil, nil, []kind{calls, protobuf}},
	{"baidu-std", "baidu-std", 1, nil, option("connection", "pooled"), []kind{few, protobuf}},
	{"baidu-std", "baidu-std", 5, option("payload", "attachment"), nil, []kind{few}},
	{"baidu-std", "baidu-std", 20, option("read_buffer", 16.0, "write_buffer", 0.0), nil, []kind{few}},
	{"baidu-std", "baidu-std", 20, option("read_buffer", float64(1<<20), "write_buffer", float64(1<<20)), nil, []kind{few}},
	{"go-quic", "go-quic", 4, nil, nil, []kind{echoes, bulk}},
	{"go-quic", "go-quic", 20, nil, nil, []kind{{"above the windows together": blocks(100_000, 100_000)}}},
}

// Every way in which an exchange can travel, plain and encrypted: both ends count the same.
func TestEveryKindOfExchange(t *testing.T) {
	t.Parallel()
	secret := workertest.Certificate(t)
	for i, w := range ways {
		for server := range strings.FieldsSeq(cmp.Or(w.servers, echoing)) {
			for client := range strings.FieldsSeq(cmp.Or(w.clients, echoing)) {
				features := describe(t, server)
				for _, tls := range []*contract.TLS{nil, secret} {
					if tls == nil && features.Encrypted || tls != nil && !slices.Contains(features.Features, contract.FeatureTLS) {
						continue
					}
					p := trial{Of: server, By: client, TLS: tls, Load: contract.Load{Connections: 2, InFlight: w.inFlight}, Client: w.client}
					if w.both != nil {
						p.Server, p.Client = w.both, w.both
					}
					if server == "go-connect-grpc" && client == "go-grpc" {
						p.Server = nil // of another library
					}
					for _, k := range w.kinds {
						for name, x := range k {
							t.Run(fmt.Sprintf("%s to %s/%d, %s, tls=%t", client, server, i, name, tls != nil), func(t *testing.T) {
								t.Parallel()
								p := p
								p.Exchange = x
								p.Amount(t, all, max(2, min(12, 1<<20/max(1, x.UpBytes, x.DownBytes))))
							})
						}
					}
				}
			}
		}
	}
}

// oneAtATime are the transports whose connections carry one exchange at a time.
var oneAtATime = []string{"go-http1", "fasthttp", "go-connect", "go-websocket"}

// Every sort of load that a transport has, and loads that are told apart by options.
func TestEveryLoad(t *testing.T) {
	t.Parallel()
	for _, of := range all {
		d := of.Describe()
		for name, l := range workertest.Loads() {
			if l.Fresh && !slices.Contains(d.Features, contract.FeatureFresh) || slices.Contains(oneAtATime, d.Name) && l.InFlight > 1 {
				continue
			}
			t.Run(d.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				p := between(t, d.Name, blocks(100, 100))
				p.Load = l
				p.Drains(t, all)
			})
		}
	}
	shared, many := option("pool", "shared"), contract.Load{Connections: 300}
	for name, p := range map[string]trial{
		"fresh and shared":         {By: "go-http1", Load: contract.Load{Connections: 4, Fresh: true}, Client: shared},
		"shared, many":             {By: "go-http1", Load: many, Client: shared},
		"shared, half idle":        {By: "go-http1", Load: contract.Load{Connections: 8, ActiveShare: 0.5}, Client: shared},
		"without a pool":           {By: "go-http2", Load: contract.Load{Connections: 3, InFlight: 5}, Client: option("pool", "none")},
		"fewer streams than slots": {By: "go-http2", Server: option("max_streams", 2.0), Load: contract.Load{Connections: 1, InFlight: 10}, Client: option("pool", "none")},
		"streams that stay":        {By: "go-grpc", Load: contract.Load{Connections: 4, InFlight: 2}, Client: option("mode", "stream")},
		"more streams than usual":  {By: "go-connect-grpc", Server: option("max_streams", 1000.0), Load: contract.Load{Connections: 1, InFlight: 300}},
		"a listener for instances": {By: "go-epoll", Server: option("instances", 5.0, "listener", "shared"), Load: contract.Load{Connections: 20}},
		"listeners of instances":   {By: "go-epoll", Server: option("instances", 5.0, "listener", "reuseport"), Load: contract.Load{Connections: 20}},
	} {
		t.Run(p.By+"/"+name, func(t *testing.T) {
			t.Parallel()
			p.Of, p.Exchange = p.By, blocks(200, 200)
			p.Amount(t, all, 12)
		})
	}
}

// Two addresses of loopback are let in and dialled from, and one at another is turned away.
func TestServersAdmitTheirClients(t *testing.T) {
	for _, of := range all {
		name := of.Describe().Name
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			between(t, name, blocks(64, 64)).AdmitsItsOwn(t, all)
		})
	}
}

// What a connection brought stays in the account when it has gone.
func TestTheAccountOutlivesItsConnections(t *testing.T) {
	for _, of := range all {
		d := of.Describe()
		if d.UDP {
			continue // whose connections nobody closes
		}
		p := between(t, d.Name, blocks(100, 100))
		p.Load.Connections = 7
		server, client := p.Connect(t, all)
		client.End()
		var counts contract.Counts
		for deadline := time.Now().Add(workertest.Timeout); ; time.Sleep(time.Millisecond) {
			if counts = server.Mark(1, false).Counts; counts.Connections == 0 || time.Now().After(deadline) {
				break
			}
		}
		if counts.Connections != 0 || counts.ReceivedBytes < 700 || counts.SentBytes != counts.ReceivedBytes {
			t.Errorf("%s: counts %+v, want no connection, and what was verified each way", d.Name, counts)
		}
	}
}

// A server that changes what it echoes is found before the load.
func TestADifferentEchoIsFound(t *testing.T) {
	address := workertest.Serve(t, func(conn net.Conn) {
		b := make([]byte, 64)
		for {
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			b[0] ^= 1
			_, _ = conn.Write(b[:n]) // an end shows in the next read
		}
	})
	for of := range strings.FieldsSeq(echoing) {
		if err := between(t, of, blocks(64, 64)).Refused(t, all, address); err.Kind != contract.Invalid {
			t.Errorf("%s: error %+v, want one of kind invalid", of, err)
		}
	}
}

// A server that dies under the load ends the trial: nothing is dialled again.
func TestALostServerIsNotDialledAgain(t *testing.T) {
	for _, c := range []struct {
		of     string
		load   contract.Load
		client map[string]any
		x      contract.Exchange
	}{
		{"go-net", contract.Load{InFlight: 3}, nil, blocks(100, 100)}, {"go-epoll", contract.Load{}, nil, blocks(100, 100)},
		{"go-http1", contract.Load{}, nil, blocks(0, 100)}, {"go-http1", contract.Load{}, option("pool", "shared"), blocks(0, 100)}, {"fasthttp", contract.Load{}, nil, blocks(0, 100)},
		{"go-http2", contract.Load{}, nil, blocks(0, 100)}, {"go-http2", contract.Load{}, option("pool", "none"), blocks(0, 100)}, {"go-http3", contract.Load{}, nil, blocks(100, 100)},
		{"go-grpc", contract.Load{InFlight: 2}, nil, blocks(100, 100)}, {"go-grpc", contract.Load{InFlight: 2}, option("mode", "stream"), blocks(100, 100)},
		{"go-grpc", contract.Load{InFlight: 2}, nil, streamed(contract.StreamBoth, 1<<20, 1<<20, 64<<10)}, {"go-grpc", contract.Load{Fresh: true}, nil, blocks(100, 100)},
		{"go-connect", contract.Load{}, nil, blocks(100, 100)}, {"go-connect-grpc", contract.Load{InFlight: 4}, nil, blocks(100, 100)},
		{"baidu-std", contract.Load{}, option("connection", "pooled"), blocks(100, 100)}, {"baidu-std", contract.Load{InFlight: 4}, nil, blocks(4<<20, 4<<20)}, {"baidu-std", contract.Load{Fresh: true}, nil, blocks(100, 100)},
		{"go-quic", contract.Load{}, nil, blocks(100, 100)},
	} {
		t.Run(fmt.Sprint(c.of, c.load.InFlight, c.client), func(t *testing.T) {
			t.Parallel()
			p := between(t, c.of, c.x)
			p.Load, p.Client = c.load, c.client
			p.DiesWithItsServer(t, all)
		})
	}
}

// What the kernel or a library made of the options, and what they are where nobody sets them.
func TestReadyTellsTheEffectiveOptions(t *testing.T) {
	for _, c := range []struct {
		of    string
		x     contract.Exchange
		given map[string]any // of both ends
		want  map[string]any // of the client
	}{
		{"baidu-std", blocks(1, 1), nil, option("max_body", 67108864.0, "connection", "single", "payload", "block", "method", "/netdyno.v1.Exchange/Unary", "read_buffer", 16384.0)},
		{"baidu-std", blocks(1, 1), option("max_body", 2e6), option("max_body", 2e6)},
		{"go-grpc", blocks(1, 1), nil, option("max_message", 4194304.0, "window", 0.0, "connection_window", 0.0, "write_buffer", 32768.0, "method", "/netdyno.v1.Exchange/Unary")},
		{"go-grpc", blocks(1, 4<<20), nil, option("max_message", 4194304.0+4096+64)},
		{"go-grpc", blocks(8<<20, 8<<20), option("max_message", 9e6), option("max_message", 9e6)},
		{"go-grpc", streamed(contract.StreamDown, 1, 8<<20, 64<<10), nil, option("max_message", 4194304.0, "method", "/netdyno.v1.Exchange/Down")},
		{"go-grpc", blocks(1, 1), option("window", 131072.0), option("window", 131072.0, "connection_window", 65535.0)},
		{"go-http3", blocks(10, 10), option("receive_buffer", 65536.0, "gso", false), option("receive_buffer", 65536.0, "gso", false, "stream_window", float64(512<<10), "max_connection_window", float64(15<<20))},
		{"go-quic", blocks(10, 10), option("receive_buffer", 65536.0, "gso", false), option("receive_buffer", 65536.0, "gso", false, "stream_window", float64(512<<10))},
		{"go-net", blocks(100, 100), option("send_buffer", 50_000.0), option("send_buffer", 50_000.0)},
		{"go-epoll", blocks(100, 100), option("send_buffer", 50_000.0), option("send_buffer", 50_000.0)},
	} {
		p := between(t, c.of, c.x)
		p.Server, p.Client = c.given, c.given
		server, client := p.Setups(all)
		_, _, ready := workertest.Pair(t, all, server, client)
		for name, want := range c.want {
			if got := ready.Options[name]; got != want {
				t.Errorf("%s with %v: option %s is %v, want %v", c.of, c.given, name, got, want)
			}
		}
	}
	for _, of := range []string{"go-net", "go-epoll", "go-quic"} { // a buffer beyond the kernel's bound
		p := between(t, of, blocks(100, 100))
		p.Client = option("receive_buffer", float64(1<<30))
		server, client := p.Setups(all)
		if _, _, ready := workertest.Pair(t, all, server, client); !(ready.Options["receive_buffer"].(float64) < 1<<30) {
			t.Errorf("%s: ready says %v, want the kernel's bound", of, ready.Options)
		}
	}
}
