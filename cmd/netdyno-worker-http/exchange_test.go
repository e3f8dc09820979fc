package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

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
	server, client = workertest.Start(t, transports...), workertest.Start(t, transports...)
	at := server.Setup(contract.Setup{
		Transport: p.server, Role: contract.Server, Listen: "127.0.0.1:0", Listeners: 2, Allow: []string{"127.0.0.1"},
		Exchange: p.exchange, Load: p.load, TLS: p.tls,
	})
	ready := client.Setup(contract.Setup{
		Transport: p.client, Role: contract.Client, Peers: at.Addresses, Exchange: p.exchange, Load: p.load, Options: p.options, TLS: p.tls,
	})
	if len(at.Addresses) != 2 || ready.Connections != p.load.Connections || ready.Verified != p.load.Connections {
		t.Fatalf("server at %v, client ready %+v, want two addresses and %d connections verified", at.Addresses, ready, p.load.Connections)
	}
	return server, client
}

// run conducts the trial and checks that its ledger closes.
func (p pairing) run(t *testing.T) contract.Result {
	t.Helper()
	server, client := p.connect(t)
	before := server.Mark(1, true).Counts
	if want := int64(p.load.Connections); !p.load.Fresh && before.Connections != want {
		t.Errorf("the server has %d TCP connections open for %d of the trial", before.Connections, want)
	}
	client.Mark(1, true)
	client.Start()
	time.Sleep(100 * time.Millisecond)
	client.Mark(2, false)
	r := client.Stop()
	after := settled(server, before, r.Counts.Exchanges+r.Drained)
	c := r.Counts
	if c.Exchanges == 0 || len(c.Errors) > 0 || r.Unfinished != 0 {
		t.Errorf("counts %+v with %d unfinished, want exchanges and no errors", c, r.Unfinished)
	}
	n := c.Exchanges + r.Drained
	received, sent := after.ReceivedBytes-before.ReceivedBytes, after.SentBytes-before.SentBytes
	if after.Exchanges-before.Exchanges != n || received*c.Exchanges != c.SentBytes*n || sent*c.Exchanges != c.ReceivedBytes*n {
		t.Errorf("the server counts %+v, before %+v, for %d exchanges of the client's %+v", after, before, n, c)
	}
	return r
}

// settled reads the server until it has counted n exchanges: it counts a reply
// after the client may have it.
func settled(server *workertest.Bench, before contract.Counts, n int64) contract.Counts {
	counts := server.Mark(2, false).Counts
	for tries := 0; counts.Exchanges-before.Exchanges < n && tries < 100; tries++ {
		time.Sleep(5 * time.Millisecond)
		counts = server.Mark(2, false).Counts
	}
	return counts
}

func bytesOf(up, down int64) contract.Exchange {
	return contract.Exchange{UpBytes: up, DownBytes: down}
}

func messages(codec string) contract.Exchange {
	return contract.Exchange{Codec: codec, Message: &contract.Structure{
		Name: "complex",
		Up:   contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"hello"}`},
		Down: contract.Content{Type: "netdyno.v1.Texts", JSON: `{"texts":["a","b","c"]}`},
	}}
}

func TestExchangesOfEveryKind(t *testing.T) {
	secret := certificate(t)
	for _, transport := range []string{"go-http1", "go-http2"} {
		for name, exchange := range map[string]contract.Exchange{
			"nothing": {}, "down": bytesOf(0, 100), "up": bytesOf(100, 0), "both": bytesOf(100, 1000),
			"4 MiB down": bytesOf(0, 4<<20), "4 MiB up": bytesOf(4<<20, 10),
			"proto": messages("proto"), "json": messages("json"),
		} {
			for read, encryption := range map[string]*contract.TLS{"all": nil, "pooled": secret} {
				t.Run(fmt.Sprintf("%s/%s/%s", transport, name, read), func(t *testing.T) {
					pairing{
						server: transport, client: transport, exchange: exchange, load: contract.Load{Connections: 3},
						options: map[string]any{"read": read}, tls: encryption,
					}.run(t)
				})
			}
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
		"http2 open loop":         {client: "go-http2", load: contract.Load{Connections: 2, InFlight: 4, Rate: 500}},
		"http2 in flight":         {client: "go-http2", load: contract.Load{Connections: 3, InFlight: 20}},
		"http2 fresh":             {client: "go-http2", load: contract.Load{Connections: 4, Fresh: true}},
	} {
		t.Run(name, func(t *testing.T) {
			p.server, p.exchange = p.client, bytesOf(0, 200)
			p.run(t)
		})
	}
}

// A server that allows fewer streams than are in flight makes them wait; it does
// not make the client open a second connection.
func TestStreamsWaitForTheirPlace(t *testing.T) {
	server, client := workertest.Start(t, transports...), workertest.Start(t, transports...)
	at := server.Setup(contract.Setup{
		Transport: "go-http2", Role: contract.Server, Listen: "127.0.0.1:0", Exchange: bytesOf(0, 10), Options: map[string]any{"max_streams": 2.0},
	})
	client.Setup(contract.Setup{
		Transport: "go-http2", Role: contract.Client, Peers: at.Addresses, Exchange: bytesOf(0, 10),
		Load: contract.Load{Connections: 1, InFlight: 10, Amount: 200},
	})
	client.Start()
	if r := client.Expect("result").Result; r.Counts.Exchanges != 200 || len(r.Counts.Errors) > 0 {
		t.Errorf("counts %+v, want 200 exchanges and no errors", r.Counts)
	}
	if n := server.Mark(1, true).Counts.Connections; n != 1 {
		t.Errorf("%d TCP connections, want 1", n)
	}
}

func TestHTTP1DoesNotMultiplex(t *testing.T) {
	client := workertest.Start(t, transports...)
	client.Send(contract.Message{Setup: &contract.Setup{
		Transport: "go-http1", Role: contract.Client, Peers: []string{"127.0.0.1:1"}, Load: contract.Load{Connections: 1, InFlight: 2},
	}})
	e := client.Expect("error").Error
	if e.Kind != contract.Unsupported || !strings.Contains(e.Text, "use more connections") {
		t.Errorf("%+v, want unsupported with advice", e)
	}
}

// One error for each exchange in flight, no new connection, and the end.
func TestALostServerIsNotDialledAgain(t *testing.T) {
	for _, p := range []pairing{
		{client: "go-http1"}, {client: "go-http1", options: map[string]any{"pool": "shared"}}, {client: "go-http2"},
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
