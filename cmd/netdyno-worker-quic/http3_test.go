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

	http3   = transports[:1]
	streams = transports[1:]
)

// kinds of exchanges, the extremes of size among them.
var kinds = map[string]contract.Exchange{
	"nothing": blocks(0, 0), "down": blocks(0, 100), "up": blocks(100, 0), "both": blocks(100, 1000),
	"4 MiB down": blocks(0, 4<<20), "4 MiB up": blocks(4<<20, 10),
	"proto": message("proto", "simple"), "json": message("json", "complex"),
}

func TestEveryKindOfExchange(t *testing.T) {
	t.Parallel()
	for _, read := range []string{"all", "pooled"} {
		for name, x := range kinds {
			t.Run(fmt.Sprintf("%s/%s", read, name), func(t *testing.T) {
				t.Parallel()
				p := trial{Exchange: x, TLS: workertest.Certificate(t), Load: contract.Load{Connections: 2, InFlight: 3}, Client: map[string]any{"read": read}}
				p.Amount(t, http3, 6)
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
	trial{Exchange: blocks(10, 100), TLS: workertest.Certificate(t), Load: contract.Load{Connections: 3, Fresh: true}}.Amount(t, http3, 5)
}

// What is not what the trial asks for is the client's error, in the server's words.
func TestOtherSizesAreRefused(t *testing.T) {
	t.Parallel()
	secret := workertest.Certificate(t)
	server := trial{Exchange: blocks(0, 100), TLS: secret}
	server.Misfits(t, http3, trial{Exchange: blocks(0, 101), TLS: secret}, contract.Invalid, "connection 1 of 1", "100 bytes, expected 101")
	server.Misfits(t, http3, trial{Exchange: blocks(9, 100), TLS: secret}, contract.Invalid, "400", "the request has 9 bytes, expected 0")
}
