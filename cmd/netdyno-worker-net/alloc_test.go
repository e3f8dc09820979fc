//go:build !race

package main

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// streaming is an exchange of wire stream both ways, or a small message in one of them.
func streaming(direction contract.Stream) contract.Exchange {
	x := contract.Exchange{Stream: direction, UpBytes: 64 << 10, DownBytes: 64 << 10, ChunkBytes: 256}
	switch direction {
	case contract.StreamUp:
		x.DownBytes = 10
	case contract.StreamDown:
		x.UpBytes = 10
	}
	return x
}

// In steady state nothing is allocated for an exchange or a chunk, at either
// end. What the conversation itself allocates (marks, ticks) is under a hundred
// objects, whatever the load.
func TestSteadyStateAllocatesNothing(t *testing.T) {
	const conversation = 200
	for _, transport := range []string{"go-net", "go-epoll"} {
		for _, inFlight := range []int{1, 3} {
			for name, p := range map[string]workertest.Ends{
				"echo":        {Exchange: workertest.Blocks(100, 100)},
				"large echo":  {Exchange: workertest.Blocks(300<<10, 300<<10)},
				"stream up":   {Exchange: streaming(contract.StreamUp)},
				"stream down": {Exchange: streaming(contract.StreamDown)},
				"stream both": {Exchange: streaming(contract.StreamBoth)},
				"sendfile, truncate": {
					Exchange: streaming(contract.StreamBoth),
					Client:   map[string]any{"send": "sendfile", "receive": "truncate"},
				},
				"open loop": {Exchange: workertest.Blocks(100, 100), Load: contract.Load{Rate: 50_000}},
			} {
				if p.Client != nil && transport != "go-net" {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%d", transport, name, inFlight), func(t *testing.T) {
					p.Of, p.By, p.Server = transport, transport, p.Client
					p.Load.Connections, p.Load.InFlight = 4, inFlight
					_, client := p.Connect(t, transports)
					client.Start()
					time.Sleep(50 * time.Millisecond) // buffers, timers and histograms grow once
					settle()
					before := client.Mark(1, true)
					time.Sleep(100 * time.Millisecond)
					settle()
					after := client.Mark(2, false)
					done := after.Counts.Exchanges - before.Counts.Exchanges
					pieces := max(1, p.Exchange.UpBytes/256, p.Exchange.DownBytes/256) * done
					if got := after.Runtime.AllocObjects - before.Runtime.AllocObjects; got > conversation+pieces/100 {
						t.Errorf("%d objects allocated for %d exchanges in %d pieces", got, done, pieces)
					}
					client.Stop()
				})
			}
		}
	}
}

// settle has the runtime count what each processor's cache has given out: left
// alone, it counts a cache when that is refilled, so the set-up's objects would
// show up within the window and some of the window's own not at all.
func settle() {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
}
