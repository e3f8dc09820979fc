package main

import (
	"fmt"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// A trial is between both ends of this worker.
type trial = workertest.Ends

var (
	blocks  = workertest.Blocks
	message = workertest.Message
	both    = workertest.With
)

func streamed(s contract.Stream, up, down, chunk int64) contract.Exchange {
	return contract.Exchange{UpBytes: up, DownBytes: down, Stream: s, ChunkBytes: chunk}
}

// Every way in which an exchange can travel, at sizes around what the library
// treats differently: nothing, one frame, above its pooling threshold, above
// its default limit.
func TestEveryKindOfExchange(t *testing.T) {
	t.Parallel()
	ends := map[string]trial{"unary": {}, "stream": both("mode", "stream"), "raw": both("codec", "raw")}
	ends["raw stream"] = trial{
		Server: map[string]any{"mode": "stream", "codec": "raw"}, Client: map[string]any{"mode": "stream", "codec": "raw"},
	}
	exchanges := map[string]contract.Exchange{
		"0 B": blocks(0, 0), "100 B": blocks(100, 100), "64 KiB": blocks(100, 64<<10), "4 MiB": blocks(4<<20, 4<<20),
		"sizes that vary": workertest.Drawn(),
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
			if (x.Stream != "" || x.Varies()) && strings.Contains(way, "stream") || x.Codec != "" && strings.Contains(way, "raw") {
				continue // refused: TestContradictionsAreRefused
			}
			for _, tls := range []*contract.TLS{nil, certificate} {
				t.Run(fmt.Sprintf("%s/%s/tls=%t", way, name, tls != nil), func(t *testing.T) {
					t.Parallel()
					p := p
					p.Exchange, p.TLS, p.Load = x, tls, contract.Load{Connections: 2, InFlight: 2}
					p.Amount(t, transports, max(2, min(6, 1<<20/max(1, x.DownBytes))))
				})
			}
		}
	}
}

func TestEveryLoad(t *testing.T) {
	t.Parallel()
	for name, l := range workertest.Loads() {
		for _, mode := range []string{"unary", "stream"} {
			t.Run(name+"/"+mode, func(t *testing.T) {
				t.Parallel()
				p := both("mode", mode)
				p.Exchange, p.Load = blocks(100, 100), l
				p.Drains(t, transports)
			})
		}
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
			p := trial{Exchange: x, Load: contract.Load{Connections: 2, InFlight: 5}, Server: server, Client: client}
			p.Amount(t, transports, 5)
		}
	}
}

func TestCompression(t *testing.T) {
	t.Parallel()
	for _, x := range []contract.Exchange{blocks(0, 100<<10), message("json", "complex"), streamed(contract.StreamUp, 100<<10, 10, 32<<10)} {
		p := trial{Exchange: x, Load: contract.Load{Connections: 1, InFlight: 2}, Client: map[string]any{"compression": "gzip"}}
		p.Amount(t, transports, 4)
	}
}

func TestReadyTellsTheEffectiveOptions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		p    trial
		want map[string]any // of the client
	}{
		{trial{Exchange: blocks(1, 1)}, map[string]any{
			"max_message": 4194304.0, "window": 0.0, "connection_window": 0.0, "write_buffer": 32768.0, "method": "/netdyno.v1.Exchange/Unary"}},
		{trial{Exchange: blocks(1, 4<<20)}, map[string]any{"max_message": 4194304.0 + 4096 + 64}},
		{trial{Exchange: blocks(8<<20, 8<<20), Client: map[string]any{"max_message": 9e6}}, map[string]any{"max_message": 9e6}},
		{trial{Exchange: streamed(contract.StreamDown, 1, 8<<20, 64<<10)}, map[string]any{
			"max_message": 4194304.0, "method": "/netdyno.v1.Exchange/Down"}},
		{trial{Exchange: blocks(1, 1), Client: map[string]any{"window": 131072.0}}, map[string]any{
			"window": 131072.0, "connection_window": 65535.0}},
	} {
		c.p.Load.Connections = 1
		server := workertest.Start(t, transports...)
		s, client := c.p.Setups(transports)
		client.Peers = server.Setup(s).Addresses
		got := workertest.Start(t, transports...).Setup(client).Options
		for name, want := range c.want {
			if got[name] != want {
				t.Errorf("%+v: option %s is %v, want %v", c.p, name, got[name], want)
			}
		}
	}
}
