package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	gofasthttp "netdyno/internal/work/transport/fasthttp"
	"netdyno/internal/work/worker/workertest"
)

// all are the transports of HTTP, those of netdyno-worker-fasthttp included:
// any client meets any server of its wire.
var all = append(slices.Clone(transports), gofasthttp.Transport{Codecs: codec.Standard()})

// pairs are servers with clients of the same wire.
var pairs = [][2]string{
	{"go-http1", "go-http1"}, {"go-http1", "fasthttp"}, {"fasthttp", "go-http1"}, {"fasthttp", "fasthttp"}, {"go-http2", "go-http2"},
}

// pairing is one trial of a server and a client in this process.
type pairing struct {
	server, client string
	exchange       contract.Exchange
	load           contract.Load
	options        map[string]any // the client's
	tls            *contract.TLS
}

func (p pairing) connect(t *testing.T) (server, client *workertest.Bench) {
	t.Helper()
	server, client, _ = workertest.Pair(t, all, contract.Setup{
		Transport: p.server, Role: contract.Server, Listen: "127.0.0.1:0", Listeners: 2, Allow: []string{"127.0.0.1"},
		Exchange: p.exchange, Load: p.load, TLS: p.tls,
	}, contract.Setup{
		Transport: p.client, Role: contract.Client, Exchange: p.exchange, Load: p.load, Options: p.options, TLS: p.tls,
	})
	return server, client
}

// amount is how many exchanges each connection of a trial makes: a fixed
// amount, so that a busy machine takes longer and changes nothing else.
func (p pairing) amount() int64 {
	if p.exchange.UpBytes+p.exchange.DownBytes > 1<<20 {
		return 3
	}
	return 12
}

// run runs the trial and checks that both ends count the same.
func (p pairing) run(t *testing.T) {
	t.Helper()
	p.load.Amount = p.amount()
	server, client := p.connect(t)
	server.Mark(1, true)
	before := server.Settled(contract.Counts{}, int64(p.load.Connections)) // one on each connection verified it
	client.Start()
	r := client.Expect("result").Result
	// net/http may have given one up, if it waited long for a CPU (docs/wires.md).
	least, want := int64(p.load.Connections)-r.Counts.Redialled, int64(p.load.Connections)
	if !p.load.Fresh && (before.Connections < least || before.Connections > want) {
		t.Errorf("the server has %d TCP connections open for %d of the trial, of which the client made %d anew", before.Connections, want, r.Counts.Redialled)
	}
	active := p.load.Connections
	if p.load.ActiveShare > 0 {
		active = int(p.load.ActiveShare * float64(active))
	}
	n := p.amount() * int64(active)
	if r.Counts.Exchanges != n || len(r.Counts.Errors) > 0 {
		t.Errorf("counts %+v, want %d exchanges and no errors; reasons %+v", r.Counts, n, r.Reasons)
	}
	after := server.Settled(before, n)
	received, sent := after.ReceivedBytes-before.ReceivedBytes, after.SentBytes-before.SentBytes
	if after.Exchanges-before.Exchanges != n || received != r.Counts.SentBytes || sent != r.Counts.ReceivedBytes {
		t.Errorf("the server counts %+v, before %+v, for %+v of the client's", after, before, r.Counts)
	}
	if up, down := p.exchange.UpBytes, p.exchange.DownBytes; p.exchange.Codec == "" && (received != n*up || sent != n*down) {
		t.Errorf("%d bytes up and %d down in %d exchanges of %d and %d", received, sent, n, up, down)
	}
}

func bytesOf(up, down int64) contract.Exchange {
	return contract.Exchange{UpBytes: up, DownBytes: down}
}

func messages(codec string) contract.Exchange {
	return contract.Exchange{Codec: codec, Message: &contract.Structure{
		Name: "complex",
		Up:   contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"hello"}`},
		Down: contract.Content{Type: "netdyno.v1.Reply", JSON: workertest.Reply("a", "b", "c")},
	}}
}

// kinds of exchanges, the extremes of size among them.
var kinds = map[string]contract.Exchange{
	"nothing": {}, "down": bytesOf(0, 100), "up": bytesOf(100, 0), "both": bytesOf(100, 1000),
	"4 MiB down": bytesOf(0, 4<<20), "4 MiB up": bytesOf(4<<20, 10),
	"proto": messages("proto"), "json": messages("json"),
}

func TestEveryClientAgainstEveryServer(t *testing.T) {
	secret := workertest.Certificate(t)
	for _, ends := range pairs {
		for name, exchange := range kinds {
			for mode, encryption := range map[string]*contract.TLS{"plain": nil, "tls": secret} {
				t.Run(fmt.Sprintf("%s/%s/%s/%s", ends[0], ends[1], name, mode), func(t *testing.T) {
					p := pairing{server: ends[0], client: ends[1], exchange: exchange, load: contract.Load{Connections: 3}, tls: encryption}
					p.run(t)
				})
			}
		}
	}
}

// The options of a client that change its path through the library.
func TestBodiesReadIntoAPool(t *testing.T) {
	for _, transport := range []string{"go-http1", "go-http2"} {
		for name, exchange := range kinds {
			t.Run(transport+"/"+name, func(t *testing.T) {
				p := pairing{server: transport, client: transport, exchange: exchange, load: contract.Load{Connections: 3}}
				p.options = map[string]any{"read": "pooled"}
				p.run(t)
			})
		}
	}
}

func TestLoadsOfEveryKind(t *testing.T) {
	shared := map[string]any{"pool": "shared"}
	for name, p := range map[string]pairing{
		"http1 open loop":         {client: "go-http1", load: contract.Load{Connections: 8, Rate: 500, Arrival: contract.Poisson}},
		"http1 half idle":         {client: "go-http1", load: contract.Load{Connections: 8, ActiveShare: 0.5}},
		"http1 fresh":             {client: "go-http1", load: contract.Load{Connections: 4, Fresh: true}},
		"http1 fresh and shared":  {client: "go-http1", load: contract.Load{Connections: 4, Fresh: true}, options: shared},
		"http1 shared":            {client: "go-http1", load: contract.Load{Connections: 7}, options: shared},
		"http1 shared, many":      {client: "go-http1", load: contract.Load{Connections: 300}, options: shared},
		"http1 shared, half idle": {client: "go-http1", load: contract.Load{Connections: 8, ActiveShare: 0.5}, options: shared},
		"fasthttp fresh":          {client: "fasthttp", load: contract.Load{Connections: 4, Fresh: true}},
		"fasthttp half idle":      {client: "fasthttp", load: contract.Load{Connections: 8, ActiveShare: 0.5}},
		"http2 open loop":         {client: "go-http2", load: contract.Load{Connections: 2, InFlight: 4, Rate: 500}},
		"http2 without a pool":    {client: "go-http2", load: contract.Load{Connections: 3, InFlight: 5}, options: map[string]any{"pool": "none"}},
		"http2 in flight":         {client: "go-http2", load: contract.Load{Connections: 3, InFlight: 100}},
		"http2 fresh":             {client: "go-http2", load: contract.Load{Connections: 4, InFlight: 2, Fresh: true}},
	} {
		t.Run(name, func(t *testing.T) {
			p.server, p.exchange = p.client, bytesOf(0, 200)
			p.run(t)
		})
	}
}

// A server allows fewer streams than are in flight. Without a pool the exchanges wait for
// their turn on the one connection; with a pool the client says in time that the streams
// do not fit.
func TestStreamsThatDoNotFit(t *testing.T) {
	for _, pool := range []string{"none", "own"} {
		server, client := workertest.Start(t, all...), workertest.Start(t, all...)
		at := server.Setup(contract.Setup{
			Transport: "go-http2", Role: contract.Server, Listen: "127.0.0.1:0", Exchange: bytesOf(0, 10), Options: map[string]any{"max_streams": 2.0},
		})
		client.Send(contract.Message{Setup: &contract.Setup{
			Transport: "go-http2", Role: contract.Client, Peers: at.Addresses, Exchange: bytesOf(0, 10),
			Load: contract.Load{Connections: 1, InFlight: 10, Amount: 200}, Options: map[string]any{"pool": pool},
		}})
		if pool == "own" {
			if e := client.Expect("error").Error; e.Kind != contract.SetupFailed || !strings.Contains(e.Text, "max_streams") {
				t.Errorf("%+v, want setup with advice", e)
			}
			continue
		}
		client.Expect("ready")
		client.Start()
		if r := client.Expect("result").Result; r.Counts.Exchanges != 200 || len(r.Counts.Errors) > 0 {
			t.Errorf("counts %+v, want 200 exchanges and no errors", r.Counts)
		}
		if n := server.Mark(1, true).Counts.Connections; n != 1 {
			t.Errorf("%d TCP connections, want 1", n)
		}
	}
}

func TestHTTP1DoesNotMultiplex(t *testing.T) {
	for _, transport := range []string{"go-http1", "fasthttp"} {
		client := workertest.Start(t, all...)
		client.Send(contract.Message{Setup: &contract.Setup{
			Transport: transport, Role: contract.Client, Peers: []string{"127.0.0.1:1"}, Load: contract.Load{Connections: 1, InFlight: 2},
		}})
		if e := client.Expect("error").Error; e.Kind != contract.Unsupported || !strings.Contains(e.Text, "use more connections") {
			t.Errorf("%s: %+v, want unsupported with advice", transport, e)
		}
	}
}

// One error for each exchange in flight, no new connection, and the end.
func TestALostServerIsNotDialledAgain(t *testing.T) {
	for _, p := range []pairing{
		{client: "go-http1"}, {client: "go-http1", options: map[string]any{"pool": "shared"}}, {client: "fasthttp"}, {client: "go-http2"},
		{client: "go-http2", options: map[string]any{"pool": "none"}},
	} {
		t.Run(fmt.Sprint(p.client, p.options), func(t *testing.T) {
			p.server, p.exchange, p.load = p.client, bytesOf(0, 100), contract.Load{Connections: 4}
			server, client := p.connect(t)
			client.Start()
			client.Mark(1, true)
			time.Sleep(50 * time.Millisecond)
			server.End()
			if e := client.Expect("error").Error; e.Kind != contract.Peer || !e.Fatal {
				t.Errorf("%+v, want a fatal one of kind peer", e)
			}
		})
	}
}

// Several source addresses, and a server that admits only those.
func TestSourcesAndStrangers(t *testing.T) {
	sources := []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}
	for _, transport := range []string{"go-http1", "fasthttp", "go-http2"} {
		server := workertest.Start(t, all...)
		at := server.Setup(contract.Setup{
			Transport: transport, Role: contract.Server, Listen: "127.0.0.1:0", Exchange: bytesOf(0, 64), Allow: sources[1:],
		})
		setup := contract.Setup{
			Transport: transport, Role: contract.Client, Peers: at.Addresses, Exchange: bytesOf(0, 64),
			Load: contract.Load{Connections: 9}, Sources: sources[1:],
		}
		if ready := workertest.Start(t, all...).Setup(setup); ready.Verified != 9 {
			t.Errorf("%s: %d of 9 connections verified", transport, ready.Verified)
		}
		stranger := workertest.Start(t, all...)
		setup.Sources = sources[:1]
		stranger.Send(contract.Message{Setup: &setup})
		if e := stranger.Expect("error").Error; !e.Fatal || e.Kind != contract.Peer {
			t.Errorf("%s: a stranger was served: %+v", transport, e)
		}
	}
}
