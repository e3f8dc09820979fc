package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

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
						pairing{
							server: server, client: client, exchange: streaming(direction, shape.bulk, shape.chunk),
							load: contract.Load{Connections: 3, InFlight: shape.inFlight},
						}.streams(t)
					})
				}
			}
		}
	}
}

// streams conducts a trial and holds both ends' accounts against each other.
func (p pairing) streams(t *testing.T) {
	t.Helper()
	server, client := p.connect(t)
	client.Start()
	warm := server.Some(contract.Counts{}, p.few())
	client.Mark(1, true)
	server.Some(warm, p.few())
	client.Mark(2, false)
	r := client.Stop()
	total := client.Mark(3, false).Counts // all that it ever completed
	x, c := p.exchange, r.Counts
	if c.Exchanges+r.Drained == 0 || len(c.Errors) > 0 || r.Unfinished > 0 {
		t.Fatalf("%d exchanges, errors %v, %d unfinished", c.Exchanges, c.Errors, r.Unfinished)
	}
	if c.ReceivedBytes != c.Exchanges*x.DownBytes || c.SentBytes != c.Exchanges*x.UpBytes {
		t.Errorf("client counts %+v do not close for %+v", c, x)
	}
	want := int64(p.load.Connections) + total.Exchanges // one verified on each connection
	got := server.Settled(contract.Counts{}, want)
	if got.Exchanges != want || got.ReceivedBytes != want*x.UpBytes || got.SentBytes != want*x.DownBytes {
		t.Errorf("server counts %+v, want %d exchanges of %d B up and %d B down", got, want, x.UpBytes, x.DownBytes)
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
					pairing{
						server: "go-net", client: "go-net", exchange: streaming(direction, 300_001, 70_000),
						load:    contract.Load{Connections: 2, InFlight: inFlight},
						options: options, clientOptions: options,
					}.streams(t)
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
		p := pairing{
			server: transport, client: transport, size: 100, load: contract.Load{Connections: 1},
			options: options, clientOptions: options,
		}
		_, _, ready := p.ends(t)
		sent, _ := ready.Options["send_buffer"].(float64)
		received, _ := ready.Options["receive_buffer"].(float64)
		if sent != 50_000 || received <= 0 || received >= 1<<30 {
			t.Errorf("%s: ready says %v, want the buffer that fits as it is and the other at the kernel's bound", transport, ready.Options)
		}
	}
}

// What comes up first is verified by the server, which closes when it is wrong.
func TestWrongContentIsTurnedAway(t *testing.T) {
	for _, transport := range echoes {
		for _, direction := range directions {
			x := streaming(direction, 1000, 100)
			server := workertest.Start(t, transports...)
			at := server.Setup(contract.Setup{Transport: transport, Role: contract.Server, Listen: "127.0.0.1:0", Exchange: x})
			conn, err := net.Dial("tcp", at.Addresses[0])
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Write(make([]byte, x.UpBytes)); err != nil {
				t.Fatal(err)
			}
			if err := conn.SetReadDeadline(time.Now().Add(workertest.Timeout)); err != nil {
				t.Fatal(err)
			}
			got, buf := int64(0), make([]byte, 4096)
			for {
				n, err := conn.Read(buf)
				got += int64(n)
				if errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatalf("%s, %s: the connection stays open", transport, direction)
				}
				if err != nil {
					break
				}
			}
			if got >= x.DownBytes {
				t.Errorf("%s, %s: answered %d bytes to wrong content", transport, direction, got)
			}
		}
	}
}
