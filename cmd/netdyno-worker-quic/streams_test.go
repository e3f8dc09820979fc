package main

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

func TestEchoOnStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size     int64
		inFlight int
		each     int64
	}{"1 B": {1, 1, 40}, "100 B": {100, 4, 40}, "above the windows": {2 << 20, 2, 4}, "above them together": {100_000, 20, 40}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := trial{Exchange: blocks(c.size, c.size), TLS: workertest.Certificate(t), Load: contract.Load{Connections: 2, InFlight: c.inFlight}}
			p.Amount(t, streams, c.each)
		})
	}
}

func TestBulkOnStreams(t *testing.T) {
	t.Parallel()
	for way, sizes := range map[contract.Stream][2]int64{
		contract.StreamUp: {2 << 20, 1}, contract.StreamDown: {10, 2 << 20}, contract.StreamBoth: {1 << 20, 2 << 20},
	} {
		t.Run(string(way), func(t *testing.T) {
			t.Parallel()
			x := blocks(sizes[0], sizes[1])
			x.Stream, x.ChunkBytes = way, 64<<10
			trial{Exchange: x, TLS: workertest.Certificate(t), Load: contract.Load{Connections: 2, InFlight: 2}}.Amount(t, streams, 4)
		})
	}
}

func TestEveryLoadOnStreams(t *testing.T) {
	t.Parallel()
	for name, l := range workertest.Loads() {
		if l.Fresh {
			continue // the transport does not have it
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			trial{Exchange: blocks(100, 100), Load: l, TLS: workertest.Certificate(t)}.Drains(t, streams)
		})
	}
}

// A server with another content must not become ready.
func TestAnotherContentIsFound(t *testing.T) {
	t.Parallel()
	secret := workertest.Certificate(t)
	x, y := blocks(10, 100), blocks(10, 100)
	x.Stream, y.Stream, x.ChunkBytes, y.ChunkBytes = contract.StreamDown, contract.StreamDown, 10, 20
	trial{Exchange: x, TLS: secret}.Misfits(t, streams, trial{Exchange: y, TLS: secret}, contract.Invalid, "connection 0", "other content")
}
