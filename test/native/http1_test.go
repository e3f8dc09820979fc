package native_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

var nativeHTTP = []string{"http1-uring", "http1-asio"}

var httpExchanges = map[string]contract.Exchange{
	"nothing": blocks(0, 0), "down": blocks(0, 100), "up": blocks(100, 0), "both": blocks(1000, 3000),
	"around a read": blocks(0, 128<<10-100), "large": blocks(1<<20+1, 4<<20),
}

// Client and server of http/1.1 in C++ and in Go agree on every message, and on its
// content, which either generates by itself.
func TestHTTP1Crosswise(t *testing.T) {
	pairs := [][2]string{}
	for _, ours := range nativeHTTP {
		pairs = append(pairs, [2]string{ours, ours}, [2]string{ours, "go-http1"}, [2]string{"go-http1", ours}, [2]string{ours, "fasthttp"}, [2]string{"fasthttp", ours})
	}
	for _, pair := range pairs {
		t.Run(pair[1]+" to "+pair[0], func(t *testing.T) {
			for name, x := range httpExchanges {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					trial{server: pair[0], client: pair[1], exchange: x, load: contract.Load{Connections: 3, Amount: 10}}.run(t)
				})
			}
		})
	}
}

// Idle connections, an open loop, thinking, a connection for every exchange.
func TestHTTP1Loads(t *testing.T) {
	for name, load := range map[string]contract.Load{
		"half idle": {Connections: 8, ActiveShare: 0.5, Amount: 50},
		"poisson":   {Connections: 4, Rate: 4000, Arrival: contract.Poisson, Amount: 200},
		"fresh":     {Connections: 4, Amount: 50, Fresh: true},
	} {
		for _, transport := range nativeHTTP {
			t.Run(name+", "+transport, func(t *testing.T) {
				t.Parallel()
				trial{server: transport, client: transport, exchange: blocks(0, 1000), load: load}.loaded(t)
			})
		}
	}
}

// drive has a client make exchanges with a server that is not ours, and returns its
// counts.
func drive(t *testing.T, transport string, setup contract.Setup) contract.Counts {
	t.Helper()
	client := start(t, transport)
	setup.Role = contract.Client
	client.setup(setup)
	client.send(contract.Message{Start: &contract.Start{}})
	return client.expect("result").Result.Counts
}

// What servers do wrong counts as it does with the clients in Go, and the other
// connection goes on.
func TestHTTP1ServersThatMisbehaveAreCountedByKind(t *testing.T) {
	reply := workertest.HTTPReply

	for name, c := range map[string]struct {
		wrong func(net.Conn)
		kind  contract.ErrorKind
	}{
		"shorter":   {reply(99, 99), contract.Invalid},
		"longer":    {reply(101, 101), contract.Invalid},
		"endless":   {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat("x", 1<<20)) }, contract.Invalid},
		"headers":   {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 10<<20)) }, contract.Invalid},
		"1xx":       {func(c net.Conn) { io.WriteString(c, strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 1<<16)) }, contract.Invalid},
		"status":    {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n") }, contract.Invalid},
		"no HTTP":   {func(c net.Conn) { io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n") }, contract.Invalid},
		"truncated": {reply(100, 50), contract.Peer},
		// The connection was idle, and the request did not come to be read.
		"reset":   {func(c net.Conn) { c.(*net.TCPConn).SetLinger(0) }, ""},
		"silence": {func(net.Conn) {}, ""},
	} {
		for _, transport := range nativeHTTP {
			t.Run(transport+"/"+name, func(t *testing.T) {
				t.Parallel()
				got := drive(t, transport, contract.Setup{
					Peers: []string{workertest.MisbehavingHTTP(t, c.wrong), workertest.MisbehavingHTTP(t, reply(100, 100))}, Exchange: blocks(0, 100),
					Load: contract.Load{Connections: 2, Amount: 3}, Options: map[string]any{"verify": "length"},
				})
				if c.kind == "" {
					if got.Exchanges != 6 || len(got.Errors) > 0 || got.Redialled != 1 {
						t.Errorf("counts %+v, want 6 exchanges, no error, and a connection made anew", got)
					}
				} else if got.Errors[c.kind] != 1 || got.Exchanges != 2+3 || len(got.Errors) != 1 {
					t.Errorf("counts %+v, want 5 exchanges and one error of kind %s", got, c.kind)
				}
			})
		}
	}
}

func TestHTTP1RequestsAreAsTheUserSays(t *testing.T) {
	for _, transport := range nativeHTTP {
		t.Run(transport, func(t *testing.T) {
			asking := func(t *testing.T, s contract.Setup) contract.Counts { return drive(t, transport, s) }
			workertest.RequestsAreAsTheUserSays(t, transport, false, false, asking)
			workertest.PathsTakeTurns(t, transport, false, asking)
		})
	}
}
