package main

import (
	"fmt"
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
						p.Client["connection"] = connection
						p.Exchange, p.TLS, p.Load = x, tls, contract.Load{Connections: 2, InFlight: 5}
						if connection == "pooled" {
							p.Load.InFlight = 1
						}
						p.Amount(t, transports, max(5, min(20, 1<<20/max(1, x.DownBytes))))
					})
				}
			}
		}
	}
}

func TestEveryLoad(t *testing.T) {
	t.Parallel()
	for name, l := range workertest.Loads() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trial{Exchange: blocks(100, 100), Load: l}.Drains(t, transports)
		})
	}
}

// Gathering nothing and gathering everything move the same exchanges.
func TestEveryBufferSize(t *testing.T) {
	t.Parallel()
	for _, buffers := range [][2]float64{{16, 0}, {4096, 1}, {1 << 20, 1 << 20}} {
		for _, payload := range []string{"block", "attachment"} {
			p := trial{Exchange: blocks(3000, 30_000), Load: contract.Load{Connections: 2, InFlight: 20}}
			p.Server = map[string]any{"read_buffer": buffers[0], "write_buffer": buffers[1], "payload": payload}
			p.Client = p.Server
			p.Amount(t, transports, 200)
		}
	}
}

func TestReadyTellsTheEffectiveOptions(t *testing.T) {
	t.Parallel()
	p := trial{Exchange: blocks(1, 1), Load: contract.Load{Connections: 1}, Client: map[string]any{"max_body": 2e6}}
	server := workertest.Start(t, transports...)
	s, client := p.Setups(transports)
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
