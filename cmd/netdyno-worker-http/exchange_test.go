package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

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

// A trial is between two ends of this worker.
type trial = workertest.Ends

func bytesOf(up, down int64) contract.Exchange {
	return contract.Exchange{UpBytes: up, DownBytes: down}
}

// kinds of exchanges, the extremes of size among them.
var kinds = map[string]contract.Exchange{
	"nothing": {}, "down": bytesOf(0, 100), "up": bytesOf(100, 0), "both": bytesOf(100, 1000),
	"4 MiB down": bytesOf(0, 4<<20), "4 MiB up": bytesOf(4<<20, 10),
	"sizes that vary": workertest.Drawn(),
	"proto":           workertest.Message("proto", "complex"), "json": workertest.Message("json", "complex"),
}

// A client of net/http has two paths through the library.
func TestEveryClientAgainstEveryServer(t *testing.T) {
	secret := workertest.Certificate(t)
	for _, ends := range pairs {
		for name, exchange := range kinds {
			for mode, encryption := range map[string]*contract.TLS{"plain": nil, "tls": secret} {
				for _, read := range []string{"all", "pooled"} {
					p := trial{Of: ends[0], By: ends[1], Exchange: exchange, Load: contract.Load{Connections: 3}, TLS: encryption, Client: map[string]any{"read": read}}
					if p.By == "fasthttp" {
						p.Client = nil
					}
					t.Run(fmt.Sprintf("%s/%s/%s/%s/%s", p.Of, p.By, name, mode, read), func(t *testing.T) {
						p.Amount(t, all, max(3, min(12, 1<<20/max(1, exchange.UpBytes+exchange.DownBytes))))
					})
				}
			}
		}
	}
}

func TestLoadsOfEveryKind(t *testing.T) {
	shared := map[string]any{"pool": "shared"}
	for name, p := range map[string]trial{
		"http1 open loop":         {By: "go-http1", Load: contract.Load{Connections: 8, Rate: 500, Arrival: contract.Poisson}},
		"http1 half idle":         {By: "go-http1", Load: contract.Load{Connections: 8, ActiveShare: 0.5}},
		"http1 fresh":             {By: "go-http1", Load: contract.Load{Connections: 4, Fresh: true}},
		"http1 fresh and shared":  {By: "go-http1", Load: contract.Load{Connections: 4, Fresh: true}, Client: shared},
		"http1 shared, many":      {By: "go-http1", Load: contract.Load{Connections: 300}, Client: shared},
		"http1 shared, half idle": {By: "go-http1", Load: contract.Load{Connections: 8, ActiveShare: 0.5}, Client: shared},
		"fasthttp fresh":          {By: "fasthttp", Load: contract.Load{Connections: 4, Fresh: true}},
		"fasthttp half idle":      {By: "fasthttp", Load: contract.Load{Connections: 8, ActiveShare: 0.5}},
		"http2 open loop":         {By: "go-http2", Load: contract.Load{Connections: 2, InFlight: 4, Rate: 500}},
		"http2 without a pool":    {By: "go-http2", Load: contract.Load{Connections: 3, InFlight: 5}, Client: map[string]any{"pool": "none"}},
		"http2 in flight":         {By: "go-http2", Load: contract.Load{Connections: 3, InFlight: 100}},
		"http2 fresh":             {By: "go-http2", Load: contract.Load{Connections: 4, InFlight: 2, Fresh: true}},
	} {
		t.Run(name, func(t *testing.T) {
			p.Of, p.Exchange = p.By, bytesOf(0, 200)
			p.Amount(t, all, 12)
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
	for _, p := range []trial{
		{By: "go-http1"}, {By: "go-http1", Client: map[string]any{"pool": "shared"}}, {By: "fasthttp"}, {By: "go-http2"},
		{By: "go-http2", Client: map[string]any{"pool": "none"}},
	} {
		t.Run(fmt.Sprint(p.By, p.Client), func(t *testing.T) {
			p.Of, p.Exchange = p.By, bytesOf(0, 100)
			p.DiesWithItsServer(t, all)
		})
	}
}

func TestServersAdmitTheirClients(t *testing.T) {
	for _, transport := range []string{"go-http1", "fasthttp", "go-http2"} {
		trial{Of: transport, By: transport, Exchange: bytesOf(0, 64)}.AdmitsItsOwn(t, all)
	}
}
