package main

import (
	"fmt"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker/workertest"
)

// A trial is between both ends of this worker.
type trial = workertest.Ends

var (
	blocks  = workertest.Blocks
	message = workertest.Message

	http3   = transports[:1]
	streams = transports[1:]
)

// kinds of exchanges, the extremes of size among them.
var kinds = map[string]contract.Exchange{
	"nothing": blocks(0, 0), "down": blocks(0, 100), "up": blocks(100, 0), "both": blocks(100, 1000),
	"4 MiB down": blocks(0, 4<<20), "4 MiB up": blocks(4<<20, 10),
	"proto": message("proto", "simple"), "json": message("json", "complex"),
}

// amount runs a fixed number of exchanges and checks that both ends count the same:
// the server counts an exchange after it has written the reply.
func amount(t *testing.T, of []load.Transport, p trial, each int64) {
	t.Helper()
	p.TLS, p.Load.Amount = workertest.Certificate(t), each
	server, client := p.Connect(t, of)
	server.Mark(1, true)
	connections := int64(p.Load.Connections)
	before := server.Settled(contract.Counts{}, connections*int64(verified(of, p.Load)))
	if !p.Load.Fresh && before.Connections != connections {
		t.Errorf("the server has %d connections open, want %d", before.Connections, connections)
	}
	client.Start()
	r := client.Expect("result").Result
	n := each * connections
	if r.Counts.Exchanges != n || len(r.Counts.Errors) > 0 || r.Unfinished != 0 {
		t.Errorf("counts %+v, %d unfinished; want %d exchanges", r.Counts, r.Unfinished, n)
	}
	after := server.Settled(before, n)
	received, sent := after.ReceivedBytes-before.ReceivedBytes, after.SentBytes-before.SentBytes
	if received != r.Counts.SentBytes || sent != r.Counts.ReceivedBytes {
		t.Errorf("the server received %d and sent %d bytes, the client counts %+v", received, sent, r.Counts)
	}
}

// verified is how many exchanges a client makes on each connection before it is
// ready: go-quic one on each stream.
func verified(of []load.Transport, l contract.Load) int {
	if of[0].Describe().Name == "go-quic" {
		return max(1, l.InFlight)
	}
	return 1
}

func TestEveryKindOfExchange(t *testing.T) {
	t.Parallel()
	for _, read := range []string{"all", "pooled"} {
		for name, x := range kinds {
			t.Run(fmt.Sprintf("%s/%s", read, name), func(t *testing.T) {
				t.Parallel()
				p := trial{Exchange: x, Load: contract.Load{Connections: 2, InFlight: 3}, Client: map[string]any{"read": read}}
				amount(t, http3, p, 6)
			})
		}
	}
}

func TestEveryLoad(t *testing.T) {
	t.Parallel()
	for name, l := range workertest.Loads() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trial{Exchange: blocks(100, 100), Load: l, TLS: workertest.Certificate(t)}.Drains(t, http3)
		})
	}
}

func TestFreshConnections(t *testing.T) {
	t.Parallel()
	amount(t, http3, trial{Exchange: blocks(10, 100), Load: contract.Load{Connections: 3, Fresh: true}}, 5)
}

// What is not what the trial asks for is the client's error, in the server's words.
func TestOtherSizesAreRefused(t *testing.T) {
	t.Parallel()
	secret := workertest.Certificate(t)
	server := trial{Exchange: blocks(0, 100), TLS: secret}
	server.Misfits(t, http3, trial{Exchange: blocks(0, 101), TLS: secret}, contract.Invalid, "connection 1 of 1", "100 bytes, expected 101")
	server.Misfits(t, http3, trial{Exchange: blocks(9, 100), TLS: secret}, contract.Invalid, "400", "the request has 9 bytes, expected 0")
}
