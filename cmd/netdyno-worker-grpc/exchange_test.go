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
		Transport: "go-grpc", Role: contract.Server, Listen: "127.0.0.1:0", Allow: []string{"127.0.0.1"},
		Exchange: p.exchange, Load: p.load, TLS: p.tls, Options: p.server,
	}
	client = contract.Setup{
		Transport: "go-grpc", Role: contract.Client, Exchange: p.exchange, Load: p.load, TLS: p.tls, Options: p.client, Seed: 3,
	}
	if p.tls != nil {
		client.TLS = &contract.TLS{Authorities: p.tls.Authorities}
	}
	return server, client
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

func streamed(s contract.Stream, up, down, chunk int64) contract.Exchange {
	return contract.Exchange{UpBytes: up, DownBytes: down, Stream: s, ChunkBytes: chunk}
}

func message(codec, name string) contract.Exchange {
	x := contract.Exchange{Codec: codec, Message: &contract.Structure{
		Name: name,
		Up:   contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"what should carry it"}`},
		Down: contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"gRPC, this time"}`},
	}}
	if name == "complex" {
		x.Message.Down = contract.Content{Type: "netdyno.v1.Texts", JSON: `{"texts":["` + strings.Repeat(`some words","`, 19) + `the last"]}`}
	}
	return x
}

func both(name string, value any) trial {
	return trial{server: map[string]any{name: value}, client: map[string]any{name: value}}
}

// Every way in which an exchange can travel, at sizes around what the library
// treats differently: nothing, one frame, above its pooling threshold, above
// its default limit.
func TestEveryKindOfExchange(t *testing.T) {
	t.Parallel()
	ends := map[string]trial{"unary": {}, "stream": both("mode", "stream"), "raw": both("codec", "raw")}
	ends["raw stream"] = trial{
		server: map[string]any{"mode": "stream", "codec": "raw"}, client: map[string]any{"mode": "stream", "codec": "raw"},
	}
	exchanges := map[string]contract.Exchange{
		"0 B": blocks(0, 0), "100 B": blocks(100, 100), "64 KiB": blocks(100, 64<<10), "4 MiB": blocks(4<<20, 4<<20),
	}
	for _, s := range []contract.Stream{contract.StreamUp, contract.StreamDown, contract.StreamBoth} {
		exchanges["chunks "+string(s)] = streamed(s, 1<<20+1, 1<<20+1, 64<<10)
		exchanges["no chunk "+string(s)] = streamed(s, 0, 0, 64<<10)
	}
	for _, codec := range []string{"proto", "json"} {
		exchanges["simple "+codec], exchanges["complex "+codec] = message(codec, "simple"), message(codec, "complex")
		x := message(codec, "complex")
		x.Stream, x.ChunkBytes = contract.StreamBoth, 16
		exchanges["chunks of "+codec] = x
	}
	certificate := workertest.Certificate(t)
	for way, p := range ends {
		for name, x := range exchanges {
			if x.Stream != "" && strings.Contains(way, "stream") || x.Codec != "" && strings.Contains(way, "raw") {
				continue // refused: TestContradictionsAreRefused
			}
			for _, tls := range []*contract.TLS{nil, certificate} {
				t.Run(fmt.Sprintf("%s/%s/tls=%t", way, name, tls != nil), func(t *testing.T) {
					t.Parallel()
					p := p
					p.exchange, p.tls, p.load = x, tls, contract.Load{Connections: 2, InFlight: 2}
					p.amount(t, max(2, min(6, 1<<20/max(1, x.DownBytes))))
				})
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
		for _, mode := range []string{"unary", "stream"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				p, l := both("mode", mode), l // the loop's load is both modes'
				l.DrainNs = int64(workertest.Patience) / 2
				p.exchange, p.load = blocks(100, 100), l
				server, client := p.connect(t)
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
}

// Ten calls at once on one connection are ten streams of one TCP connection,
// whatever the library would rather do.
func TestOneConnectionIsOneTCPConnection(t *testing.T) {
	t.Parallel()
	server, client := trial{exchange: blocks(100, 100), load: contract.Load{Connections: 1, InFlight: 10}}.connect(t)
	client.Mark(1, true)
	client.Start()
	for exchanges := int64(50); exchanges <= 250; exchanges += 50 {
		if open := server.Until(exchanges).Connections; open != 1 {
			t.Fatalf("%d TCP connections, want 1", open)
		}
	}
	if r := client.Stop(); r.Counts.Exchanges < 10 || len(r.Counts.Errors) > 0 {
		t.Errorf("counts %+v", r.Counts)
	}
}

func TestEveryOptionTakesEffect(t *testing.T) {
	t.Parallel()
	both := map[string]any{
		"write_buffer": 0.0, "read_buffer": 0.0, "shared_write_buffer": false, "window": 1048576.0,
	}
	server := map[string]any{"stream_workers": 2.0, "max_concurrent_streams": 3.0, "header_table": 0.0}
	client := map[string]any{"connection_window": 4194304.0}
	for name, value := range both {
		server[name], client[name] = value, value
	}
	for _, pool := range []string{"tiered", "none"} {
		for _, x := range []contract.Exchange{blocks(100, 2<<20), message("proto", "complex"), streamed(contract.StreamBoth, 1<<20, 1<<20, 32<<10)} {
			server["buffer_pool"], client["buffer_pool"] = pool, pool
			p := trial{exchange: x, load: contract.Load{Connections: 2, InFlight: 5}, server: server, client: client}
			p.amount(t, 5)
		}
	}
}

func TestCompression(t *testing.T) {
	t.Parallel()
	for _, x := range []contract.Exchange{blocks(0, 100<<10), message("json", "complex"), streamed(contract.StreamUp, 100<<10, 10, 32<<10)} {
		p := trial{exchange: x, load: contract.Load{Connections: 1, InFlight: 2}, client: map[string]any{"compression": "gzip"}}
		p.amount(t, 4)
	}
}

func TestReadyTellsTheEffectiveOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    trial
		want map[string]any // of the client
	}{
		{trial{exchange: blocks(1, 1)}, map[string]any{
			"max_message": 4194304.0, "window": 0.0, "connection_window": 0.0, "write_buffer": 32768.0, "method": "/netdyno.v1.Exchange/Unary"}},
		{trial{exchange: blocks(1, 4<<20)}, map[string]any{"max_message": 4194304.0 + 4096 + 64}},
		{trial{exchange: blocks(8<<20, 8<<20), client: map[string]any{"max_message": 9e6}}, map[string]any{"max_message": 9e6}},
		{trial{exchange: streamed(contract.StreamDown, 1, 8<<20, 64<<10)}, map[string]any{
			"max_message": 4194304.0, "method": "/netdyno.v1.Exchange/Down"}},
		{trial{exchange: blocks(1, 1), client: map[string]any{"window": 131072.0}}, map[string]any{
			"window": 131072.0, "connection_window": 65535.0}},
	} {
		c.p.load.Connections = 1
		server := workertest.Start(t, transports...)
		s, client := c.p.setups()
		client.Peers = server.Setup(s).Addresses
		got := workertest.Start(t, transports...).Setup(client).Options
		for name, want := range c.want {
			if got[name] != want {
				t.Errorf("%+v: option %s is %v, want %v", c.p, name, got[name], want)
			}
		}
	}
}
