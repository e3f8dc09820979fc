package main

import (
	"fmt"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// trial is one trial between a server and a client of this worker.
type trial struct {
	exchange       contract.Exchange
	load           contract.Load
	tls            *contract.TLS
	server, client map[string]any // options
}

// setups returns both ends' setups; the client's lacks its peers.
func (p trial) setups() (server, client contract.Setup) {
	server = contract.Setup{
		Transport: "brpc", Role: contract.Server, Listen: "127.0.0.1:0", Allow: []string{"127.0.0.1"},
		Exchange: p.exchange, Load: p.load, TLS: p.tls, Options: p.server,
	}
	client = contract.Setup{
		Transport: "brpc", Role: contract.Client, Exchange: p.exchange, Load: p.load, TLS: p.tls, Options: p.client, Seed: 3,
	}
	if p.tls != nil {
		client.TLS = &contract.TLS{Authorities: p.tls.Authorities}
	}
	return server, client
}

// listen starts a trial's server.
func (p trial) listen(t testing.TB) (server *workertest.Bench, address string) {
	t.Helper()
	setup, _ := p.setups()
	return workertest.Listen(t, transports, setup)
}

func (p trial) connect(t *testing.T) (server, client *workertest.Bench) {
	t.Helper()
	s, c := p.setups()
	server, client, _ = workertest.Pair(t, transports, s, c)
	return server, client
}

// amount runs a fixed number of exchanges on every connection.
func (p trial) amount(t *testing.T, each int64) {
	t.Helper()
	p.load.Amount = each
	server, client := p.connect(t)
	_, setup := p.setups()
	workertest.Amount(t, server, client, setup)
}

func blocks(up, down int64) contract.Exchange {
	return contract.Exchange{UpBytes: up, DownBytes: down}
}

func message(codec, name string) contract.Exchange {
	x := contract.Exchange{Codec: codec, Message: &contract.Structure{
		Name: name,
		Up:   contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"what should carry it"}`},
		Down: contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"baidu_std, this time"}`},
	}}
	if name == "complex" {
		x.Message.Down = contract.Content{Type: "netdyno.v1.Texts", JSON: `{"texts":["` + strings.Repeat(`some words","`, 19) + `the last"]}`}
	}
	return x
}

func both(name string, value any) trial {
	return trial{server: map[string]any{name: value}, client: map[string]any{name: value}}
}

// Every way in which an exchange can travel, at sizes around what is treated
// differently: nothing, one read, above the buffers, above the socket's.
func TestEveryKindOfExchange(t *testing.T) {
	t.Parallel()
	exchanges := map[string]contract.Exchange{
		"0 B": blocks(0, 0), "100 B": blocks(100, 100), "16 KiB": blocks(16<<10, 16<<10+1), "64 KiB": blocks(100, 64<<10), "2 MiB": blocks(2<<20, 2<<20),
		"simple": message("proto", "simple"), "complex": message("proto", "complex"),
	}
	certificate := workertest.Certificate(t)
	for _, payload := range []string{"block", "attachment"} {
		for _, connection := range []string{"single", "pooled"} {
			for name, x := range exchanges {
				if x.Codec != "" && payload == "attachment" {
					continue // refused: TestContradictionsAreRefused
				}
				for _, tls := range []*contract.TLS{nil, certificate} {
					t.Run(fmt.Sprintf("%s/%s/%s/tls=%t", payload, connection, name, tls != nil), func(t *testing.T) {
						t.Parallel()
						p := both("payload", payload)
						p.client["connection"] = connection
						p.exchange, p.tls, p.load = x, tls, contract.Load{Connections: 2, InFlight: 5}
						if connection == "pooled" {
							p.load.InFlight = 1
						}
						p.amount(t, max(5, min(20, 1<<20/max(1, x.DownBytes))))
					})
				}
			}
		}
	}
}

func TestEveryLoad(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]contract.Load{
		"closed": {Connections: 4}, "in flight": {Connections: 2, InFlight: 100}, "constant": {Connections: 4, Rate: 100},
		"poisson": {Connections: 4, Rate: 100, Arrival: contract.Poisson, InFlight: 2}, "half idle": {Connections: 4, ActiveShare: 0.5},
		"thinking": {Connections: 4, ThinkNs: 1e6}, "fresh": {Connections: 2, Fresh: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l.DrainNs = int64(workertest.Patience) / 2
			server, client := trial{exchange: blocks(100, 100), load: l}.connect(t)
			before := server.Mark(1, true).Counts.Exchanges
			client.Mark(1, true)
			client.Start()
			if open := server.Until(before + 20).Connections; !l.Fresh && open != int64(l.Connections) {
				t.Errorf("%d TCP connections are open, want %d", open, l.Connections)
			}
			client.Mark(2, false)
			r := client.Stop()
			if c := r.Counts; c.Exchanges+r.Drained < 20 || len(c.Errors) > 0 || r.Unfinished != 0 || c.ReceivedBytes != c.Exchanges*100 {
				t.Errorf("counts %+v, %d drained, %d unfinished", c, r.Drained, r.Unfinished)
			}
		})
	}
}

// Gathering nothing and gathering everything move the same exchanges.
func TestEveryBufferSize(t *testing.T) {
	t.Parallel()
	for _, buffers := range [][2]float64{{16, 0}, {4096, 1}, {1 << 20, 1 << 20}} {
		for _, payload := range []string{"block", "attachment"} {
			p := trial{exchange: blocks(3000, 30_000), load: contract.Load{Connections: 2, InFlight: 20}}
			p.server = map[string]any{"read_buffer": buffers[0], "write_buffer": buffers[1], "payload": payload}
			p.client = p.server
			p.amount(t, 200)
		}
	}
}

func TestReadyTellsTheEffectiveOptions(t *testing.T) {
	t.Parallel()
	p := trial{exchange: blocks(1, 1), load: contract.Load{Connections: 1}, client: map[string]any{"max_body": 2e6}}
	server := workertest.Start(t, transports...)
	s, client := p.setups()
	listening := server.Setup(s)
	if got := listening.Options["max_body"]; got != 67108864.0 {
		t.Errorf("the server's max_body is %v, want brpc's 64 MiB", got)
	}
	client.Peers = listening.Addresses
	got := workertest.Start(t, transports...).Setup(client).Options
	for name, want := range map[string]any{
		"max_body": 2e6, "connection": "single", "payload": "block", "method": "/netdyno.v1.Exchange/Unary", "read_buffer": 16384.0,
	} {
		if got[name] != want {
			t.Errorf("option %s is %v, want %v", name, got[name], want)
		}
	}
}
