package native_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// A server may close after a reply. The client goes on, and says how often.
func TestHTTP1APoliteEndIsFollowedByANewConnection(t *testing.T) {
	body := strings.Repeat("x", 100)
	for name, farewell := range map[string]string{
		"announced":  "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n" + body,
		"HTTP/1.0":   "HTTP/1.0 200 OK\r\nContent-Length: 100\r\n\r\n" + body,
		"by the end": "HTTP/1.1 200 OK\r\n\r\n" + body,
	} {
		for _, transport := range nativeHTTP {
			t.Run(transport+"/"+name, func(t *testing.T) {
				t.Parallel()
				got := drive(t, transport, contract.Setup{
					Peers: []string{workertest.MisbehavingHTTP(t, func(c net.Conn) { io.WriteString(c, farewell) })}, Exchange: blocks(0, 100),
					Load: contract.Load{Connections: 2, Amount: 11}, Options: map[string]any{"verify": "length"},
				})
				// Four exchanges a connection, the verified one among them.
				if got.Exchanges != 22 || len(got.Errors) > 0 || got.Redialled != 2*2 {
					t.Errorf("counts %+v, want 22 exchanges, no error, and 4 connections made anew", got)
				}
			})
		}
	}
}

// A server that ends every connection, the verified one too.
func TestHTTP1AServerThatClosesEachConnection(t *testing.T) {
	body := strings.Repeat("y", 300)
	for name, reply := range map[string]string{
		"by the end":    "HTTP/1.0 200 OK\r\n\r\n" + body,
		"with a length": "HTTP/1.0 200 OK\r\nContent-Length: 300\r\n\r\n" + body,
		"chunks":        "HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n12c\r\n" + body + "\r\n0\r\n\r\n",
	} {
		for _, fresh := range []bool{false, true} {
			for _, transport := range nativeHTTP {
				t.Run(fmt.Sprintf("%s/%s/%t", transport, name, fresh), func(t *testing.T) {
					t.Parallel()
					at := workertest.Serve(t, func(c net.Conn) {
						if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
							_, _ = io.WriteString(c, reply)
						}
					})
					got := drive(t, transport, contract.Setup{
						Peers: []string{at}, Exchange: blocks(0, 300), Load: contract.Load{Connections: 2, Amount: 20, Fresh: fresh},
						Options: map[string]any{"verify": "length"},
					})
					redialled := int64(40)
					if fresh { // that is what was asked for
						redialled = 0
					}
					if got.Exchanges != 40 || len(got.Errors) > 0 || got.Redialled != redialled {
						t.Errorf("counts %+v, want 40 exchanges and %d connections made anew", got, redialled)
					}
				})
			}
		}
	}
}

// TestHTTP1RequestsAreAsTheUserSays drives a server that answers only the right
// request, and one whose replies have any length.
func TestHTTP1RequestsAreAsTheUserSays(t *testing.T) {
	var length atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/varying":
			_, _ = io.WriteString(w, strings.Repeat("x", int(length.Add(1)%7)+1))
		case r.Method != http.MethodPut, string(body) != "hello", r.Header.Get("X-Key") != "1", r.Header.Get("Content-Type") != "text/plain", r.Host != "shop.example":
			http.Error(w, fmt.Sprintf("%s %q %v for %s", r.Method, body, r.Header, r.Host), http.StatusBadRequest)
		default:
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, "made")
		}
	}))
	t.Cleanup(server.Close)
	for _, transport := range nativeHTTP {
		t.Run(transport, func(t *testing.T) {
			setup := contract.Setup{
				Peers: []string{server.Listener.Addr().String()}, Exchange: blocks(5, 4), Load: contract.Load{Connections: 2, Amount: 20},
				Options: map[string]any{
					"path": "/made", "verify": "length", "method": "PUT", "body": "hello", "host": "shop.example", "status": 201,
					"headers": "X-Key: 1\nContent-Type: text/plain",
				},
			}
			if got := drive(t, transport, setup); got.Exchanges != 40 || got.SentBytes != 200 || got.ReceivedBytes != 160 || len(got.Errors) > 0 {
				t.Errorf("counts %+v, want 40 requests of 5 bytes and replies of 4", got)
			}
			setup.Exchange, setup.Options = blocks(0, 1), map[string]any{"path": "/varying", "verify": "status"}
			if got := drive(t, transport, setup); got.Exchanges != 40 || got.ReceivedBytes <= 40 || len(got.Errors) > 0 {
				t.Errorf("counts %+v, want what came", got)
			}
		})
	}
}

// TestHTTP1PathsTakeTurns: every connection asks for one path after the other, from
// its own share of the list on.
func TestHTTP1PathsTakeTurns(t *testing.T) {
	want := []string{"/a?q=%41", "/b//c", "/d/../e", "/none"}
	list := filepath.Join(t.TempDir(), "paths.txt")
	if err := os.WriteFile(list, []byte("# four\n"+strings.Join(want, "\n\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, transport := range nativeHTTP {
		t.Run(transport, func(t *testing.T) {
			var mu sync.Mutex
			asked := map[string][]string{} // by connection
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked[r.RemoteAddr] = append(asked[r.RemoteAddr], r.RequestURI)
				mu.Unlock()
				if r.URL.Path == "/none" {
					w.WriteHeader(http.StatusNoContent)
				} else {
					_, _ = io.WriteString(w, r.RequestURI)
				}
			}))
			defer server.Close()
			got := drive(t, transport, contract.Setup{
				Peers: []string{server.Listener.Addr().String()}, Load: contract.Load{Connections: 2, Amount: 20},
				Options: map[string]any{"paths": list, "verify": "status"},
			})
			if got.Exchanges != 40 || len(got.Errors) > 0 {
				t.Errorf("counts %+v, want 40 exchanges", got)
			}
			begun := map[string]bool{}
			for from, paths := range asked {
				begun[paths[0]] = true
				// The verified exchange asks for the first path, and the load begins with it.
				first := slices.Index(want, paths[0])
				for i, path := range paths[1:] {
					if path != want[(first+i)%len(want)] {
						t.Errorf("%s asks for %q, want them in turn", from, paths)
						break
					}
				}
			}
			if len(asked) != 2 || !begun[want[0]] || !begun[want[2]] {
				t.Errorf("%d connections begin at %v, want two, half the list apart", len(asked), begun)
			}
		})
	}
}
