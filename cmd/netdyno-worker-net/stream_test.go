package main

import (
	"fmt"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// streaming is an exchange of wire stream with the bytes that its other message,
// if it has one, takes.
func streaming(direction contract.Stream, bulk, chunk int64) contract.Exchange {
	const small = 10
	x := contract.Exchange{Stream: direction, UpBytes: bulk, DownBytes: bulk, ChunkBytes: chunk}
	switch direction {
	case contract.StreamUp:
		x.DownBytes = small
	case contract.StreamDown:
		x.UpBytes = small
	}
	return x
}

var directions = []contract.Stream{contract.StreamUp, contract.StreamDown, contract.StreamBoth}

// The counts of streams must agree for every server with every client.
func TestStreamsCrosswise(t *testing.T) {
	shapes := []struct {
		bulk, chunk int64
		inFlight    int
	}{{1, 0, 1}, {1, 0, 4}, {1000, 64, 3}, {65537, 65536, 1}, {1 << 20, 128 << 10, 2}, {5 << 20, 0, 1}}
	for _, server := range echoes {
		for _, client := range echoes {
			for _, direction := range directions {
				for _, shape := range shapes {
					t.Run(fmt.Sprintf("%s/%s/%s/%d/%d", server, client, direction, shape.bulk, shape.inFlight), func(t *testing.T) {
						t.Parallel()
						p := trial{
							Of: server, By: client, Exchange: streaming(direction, shape.bulk, shape.chunk),
							Load: contract.Load{Connections: 3, InFlight: shape.inFlight},
						}
						p.Amount(t, transports, max(4, min(20, 1<<20/shape.bulk)))
					})
				}
			}
		}
	}
}

// Every way of sending and receiving moves the same bytes.
func TestWaysOfSendingAndReceiving(t *testing.T) {
	for _, send := range []string{"write", "sendfile"} {
		for _, receive := range []string{"read", "truncate"} {
			for _, direction := range directions {
				t.Run(fmt.Sprintf("%s/%s/%s", send, receive, direction), func(t *testing.T) {
					t.Parallel()
					options := map[string]any{"send": send, "receive": receive}
					inFlight := 1 + len(send+receive)%2
					p := trial{
						Exchange: streaming(direction, 300_001, 70_000), Load: contract.Load{Connections: 2, InFlight: inFlight},
						Server: options, Client: options, Of: "go-net", By: "go-net",
					}
					p.Amount(t, transports, 10)
				})
			}
		}
	}
}

func TestOptionsOfTheOtherWireAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		role     contract.Role
		exchange contract.Exchange
		options  map[string]any
	}{
		"send on echo":    {contract.Server, contract.Exchange{UpBytes: 1, DownBytes: 1}, map[string]any{"send": "sendfile"}},
		"receive on echo": {contract.Client, contract.Exchange{UpBytes: 1, DownBytes: 1}, map[string]any{"receive": "truncate"}},
	} {
		w := workertest.Start(t, transports...)
		w.Send(contract.Message{Setup: &contract.Setup{
			Transport: "go-net", Role: c.role, Listen: "127.0.0.1:0", Peers: []string{"127.0.0.1:1"},
			Exchange: c.exchange, Load: contract.Load{Connections: 1}, Options: c.options,
		}})
		if e := w.Expect("error").Error; e.Kind != contract.SetupFailed || !strings.Contains(e.Text, "option ") {
			t.Errorf("%s: %+v, want an error of kind setup that names the option", name, e)
		}
	}
}

// Effective buffers are what the kernel made of those that were asked for.
func TestBuffersAreReportedAsTheyAre(t *testing.T) {
	for _, transport := range echoes {
		options := map[string]any{"send_buffer": 50_000.0, "receive_buffer": float64(1 << 30)}
		p := trial{Of: transport, By: transport, Exchange: workertest.Blocks(100, 100), Load: contract.Load{Connections: 1}, Server: options, Client: options}
		server, client := p.Setups(transports)
		_, _, ready := workertest.Pair(t, transports, server, client)
		sent, _ := ready.Options["send_buffer"].(float64)
		received, _ := ready.Options["receive_buffer"].(float64)
		if sent != 50_000 || received <= 0 || received >= 1<<30 {
			t.Errorf("%s: ready says %v, want the buffer that fits as it is and the other at the kernel's bound", transport, ready.Options)
		}
	}
}
