package gowebsocket_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"
	"golang.org/x/net/websocket"

	"netdyno/internal/contract"
	"netdyno/internal/rows"
	"netdyno/internal/websocket/websockettest"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/gowebsocket"
	"netdyno/internal/work/wire/tlswire"
	"netdyno/internal/work/worker/workertest"
)

var all = []load.Transport{gowebsocket.Transport{Codecs: codec.Standard()}}

const name = "go-websocket"

func TestMessagesGoUpAndComeDown(t *testing.T) {
	for what, x := range map[string]contract.Exchange{
		"100 bytes": workertest.Blocks(100, 100), "nothing up": workertest.Blocks(0, 7), "nothing down": workertest.Blocks(7, 0), "large": workertest.Blocks(1<<20, 3<<20),
		"messages of protobuf": workertest.Message("proto", "complex"),
		"a stream":             {UpBytes: 10, DownBytes: 2001, Stream: contract.StreamDown, ChunkBytes: 100},
	} {
		for _, encrypted := range []bool{false, true} {
			for _, fresh := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, tls %t, fresh %t", what, encrypted, fresh), func(t *testing.T) {
					p := workertest.Ends{Of: name, By: name, Exchange: x, Load: contract.Load{Connections: 2, Fresh: fresh}}
					if encrypted {
						p.TLS = workertest.Certificate(t)
					}
					if r := p.Amount(t, all, 5); r.Counts.Exchanges != 10 {
						t.Errorf("%d exchanges, expected 10: %+v", r.Counts.Exchanges, r)
					}
				})
			}
		}
	}
}

func TestEachMessageOfAStreamIsAnEvent(t *testing.T) {
	setup := contract.Setup{Transport: name, Exchange: contract.Exchange{DownBytes: 250, Stream: contract.StreamDown, ChunkBytes: 100, EveryNs: int64(2 * time.Millisecond)}}
	server := workertest.Server(t, all[0], setup)
	setup.Events, setup.Load = true, contract.Load{Amount: 4}
	r := run(t, setup, server.Ready().Addresses[0])
	if r.Counts.Exchanges != 4 || r.Events == nil || r.Events.Count != 12 || r.Events.First == "" || r.Events.Gaps == "" {
		t.Errorf("%d exchanges with events %+v, expected 4 with 12", r.Counts.Exchanges, r.Events)
	}
}

func TestAServerThatSendsByItselfIsFollowed(t *testing.T) {
	closed := make(chan error, 16)
	at := theirs(t, func(c *websocket.Conn) {
		for i := 0; ; i++ {
			if err := websocket.Message.Send(c, fmt.Sprint("event ", i)); err != nil {
				return
			}
			_ = c.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
			if _, err := c.Read(make([]byte, 1)); err != nil && !isTimeout(err) {
				closed <- err
				return
			}
		}
	})
	for what, options := range map[string]map[string]any{
		"so many messages": {"most_events": int64(3)}, "so long": {"events_for": int64(50 * time.Millisecond)},
	} {
		t.Run(what, func(t *testing.T) {
			setup := contract.Setup{Transport: name, Events: true, Exchange: contract.Exchange{DownBytes: 1}, Load: contract.Load{Amount: 2, Fresh: true},
				Options: map[string]any{"verify": "status", "message": "none"}}
			for k, v := range options {
				setup.Options[k] = v
			}
			r := run(t, setup, at)
			if r.Counts.Exchanges != 2 || r.Events.Count < 4 || options["most_events"] != nil && r.Events.Count != 6 {
				t.Errorf("%d exchanges with %d events", r.Counts.Exchanges, r.Events.Count)
			}
			select {
			case err := <-closed:
				if !errors.Is(err, io.EOF) {
					t.Errorf("the server saw %v, expected a close", err)
				}
			case <-time.After(workertest.Timeout):
				t.Error("the server saw no close")
			}
		})
	}
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func TestAHandshakeIsAsTheUserSays(t *testing.T) {
	at := theirs(t, func(c *websocket.Conn) {
		r := c.Request()
		var message string
		_ = websocket.Message.Receive(c, &message)
		_ = websocket.Message.Send(c, strings.Join([]string{r.RequestURI, r.Host, r.Header.Get("X-A"), strings.Join(c.Config().Protocol, "+"), message}, " "))
	})
	const want = "/chat?room=7 example.org 1 json hello"
	setup := contract.Setup{Transport: name, Exchange: contract.Exchange{UpBytes: 5, DownBytes: int64(len(want))}, Load: contract.Load{Amount: 2, Fresh: true}, Options: map[string]any{
		"verify": "regexp", "expected": "^" + strings.ReplaceAll(want, "?", `\?`) + "$", "path": "/chat?room=7", "message": "text", "body": "hello",
		"headers": "Host: example.org\nX-A: 1\nSec-WebSocket-Protocol: json",
	}}
	if r := run(t, setup, at); r.Counts.Exchanges != 2 {
		t.Errorf("%d exchanges, expected 2: %+v", r.Counts.Exchanges, r.Reasons)
	}
}

func TestWhatIsWrongHasItsKindAndReason(t *testing.T) {
	for what, wrong := range websockettest.Servers {
		t.Run(what, func(t *testing.T) {
			kind := contract.Invalid
			if wrong.Ends {
				kind = contract.Peer
			}
			at, before := wrong.Serve(t), allocated()
			setup := contract.Setup{Transport: name, Exchange: workertest.Blocks(5, 5), Options: map[string]any{"verify": "length"}}
			client, err := all[0].Client(workertest.ClientSetup(t, all[0], setup, at))
			if err == nil {
				_ = client.Close()
				t.Fatal("the client is ready")
			}
			if got := load.KindOf(err); got != kind || !strings.Contains(err.Error(), wrong.Says) {
				t.Errorf("%s: %v, expected %s and %q", got, err, kind, wrong.Says)
			}
			if more := allocated() - before; more > 4<<20 {
				t.Errorf("%d bytes were allocated", more)
			}
		})
	}
}

// allocated is how many bytes were ever allocated.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestOddMessagesAreTaken(t *testing.T) {
	for what, then := range websockettest.Right {
		t.Run(what, func(t *testing.T) {
			setup := contract.Setup{Transport: name, Exchange: workertest.Blocks(5, 5), Options: map[string]any{"verify": "length"}}
			workertest.Client(t, all[0], setup, websockettest.Wrong{Then: then}.Serve(t))
		})
	}
}

// Also one that came with the reply before.
func TestACloseBetweenExchangesSaysWhy(t *testing.T) {
	at := workertest.Serve(t, func(conn net.Conn) {
		from := websockettest.Shake(conn, "")
		for {
			if _, err := io.CopyN(io.Discard, from, 2+4+5); err != nil {
				return
			}
			_, _ = io.WriteString(conn, "\x82\x05hello\x88\x09\x03\xe9restart") // an end shows in the next message
		}
	})
	setup := contract.Setup{Transport: name, Exchange: workertest.Blocks(5, 5), Load: contract.Load{Amount: 4}, Options: map[string]any{"verify": "length"}}
	r := run(t, setup, at)
	if want := []contract.Reason{{Kind: contract.Peer, Text: `closed with 1001 ("restart")`, Count: 2}}; !slices.Equal(r.Reasons, want) || r.Counts.Exchanges != 2 {
		t.Errorf("%d exchanges and %+v, expected 2 and %+v", r.Counts.Exchanges, r.Reasons, want)
	}
}

// What never ends is ended by the deadline, and little of it is kept.
func TestRepliesWithoutEndAreEnded(t *testing.T) {
	for what, endless := range map[string]string{
		"pings": "\x89\x04ping", "empty fragments": "\x00\x00", "bytes one by one": "\x00\x01x", "nothing": "",
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			at := workertest.Serve(t, func(conn net.Conn) {
				from := websockettest.Shake(conn, "")
				if _, err := io.CopyN(io.Discard, from, 2+4+5); err != nil {
					return
				}
				_, _ = io.WriteString(conn, "\x82\x05hello") // the first one is answered
				if _, err := io.CopyN(io.Discard, from, 2+4+5); err != nil {
					return
				}
				go func() { _, _ = io.Copy(io.Discard, from) }() // pongs
				if endless != "\x89\x04ping" {
					_, _ = io.WriteString(conn, "\x02\x00")
				}
				for err := error(nil); err == nil; _, err = io.WriteString(conn, endless) {
					time.Sleep(time.Millisecond) // slowly
				}
			})
			before := allocated()
			setup := contract.Setup{Transport: name, Exchange: workertest.Blocks(5, 1), Load: contract.Load{Amount: 1, DeadlineNs: int64(time.Second)}, Options: map[string]any{"verify": "status"}}
			r := run(t, setup, at)
			if r.Counts.Exchanges != 0 || len(r.Reasons) != 1 || r.Reasons[0].Kind != contract.Timeout {
				t.Errorf("%d exchanges and %+v, expected a timeout", r.Counts.Exchanges, r.Reasons)
			}
			if more := allocated() - before; more > 16<<20 {
				t.Errorf("%d bytes were allocated", more)
			}
		})
	}
}

func TestAHandshakeWithoutEndIsEnded(t *testing.T) {
	at := workertest.Serve(t, func(conn net.Conn) {
		for err := error(nil); err == nil; _, err = io.WriteString(conn, "H") {
			time.Sleep(time.Millisecond) // slowly
		}
	})
	setup := contract.Setup{Transport: name, Exchange: workertest.Blocks(5, 5), Load: contract.Load{ConnectNs: int64(100 * time.Millisecond)}, Options: map[string]any{"verify": "length"}}
	_, err := all[0].Client(workertest.ClientSetup(t, all[0], setup, at))
	if kind := load.KindOf(err); kind != contract.Timeout {
		t.Errorf("%s: %v, expected a timeout", kind, err)
	}
}

// Each message has a row of its own, and each connection was asked for by the row of its first.
func TestMessagesDifferByRows(t *testing.T) {
	name := filepath.Join(t.TempDir(), "rows")
	w, err := rows.Create(name, 1)
	for i := range 7 {
		if err == nil {
			err = w.Add([]byte(strings.Repeat("x", i+1)))
		}
	}
	if err == nil {
		err = w.Close(1)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, fresh := range []bool{false, true} {
		t.Run(fmt.Sprintf("fresh %t", fresh), func(t *testing.T) {
			got := make(chan string, 9)
			at := theirs(t, func(c *websocket.Conn) {
				for message := ""; websocket.Message.Receive(c, &message) == nil; {
					got <- c.Request().RequestURI + " " + message
					_ = websocket.Message.Send(c, message) // an end shows in the next message
				}
			})
			setup := contract.Setup{Transport: "go-websocket", Exchange: workertest.Blocks(3, 1), Load: contract.Load{Amount: 7, Fresh: fresh}, Options: map[string]any{
				"verify": "status", "message": "text", "path": "/{0u}", "body": "a {0}", "data": "@" + name,
			}}
			r := run(t, setup, at)
			if r.Counts.Exchanges != 7 || r.Counts.SentBytes != 7*2+28 || r.Counts.ReceivedBytes != 7*2+28 {
				t.Errorf("%+v, expected 7 exchanges of 42 bytes together", r.Counts)
			}
			for i := range 8 {
				row := strings.Repeat("x", i%7+1)
				want := "/x a " + row
				if fresh {
					want = "/" + row + " a " + row
				}
				if message := <-got; message != want {
					t.Errorf("message %d is %q, expected %q", i, message, want)
				}
			}
		})
	}
}

// Pings between two exchanges, and an exchange after them.
func TestPingsOfAServerAreAnsweredWhileNothingIsSent(t *testing.T) {
	for _, encrypted := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls %t", encrypted), func(t *testing.T) {
			setup, options := contract.Setup{Transport: name, Exchange: workertest.Blocks(5, 5), Load: contract.Load{Amount: 3}}, map[string]any{"verify": "length"}
			var config *tls.Config
			if encrypted {
				setup.TLS = workertest.Certificate(t)
				var err error
				if config, err = tlswire.ServerConfig(setup); err != nil {
					t.Fatal(err)
				}
			}
			setup.Options = options
			answered := make(chan bool, 9)
			at := workertest.Serve(t, func(conn net.Conn) {
				if encrypted {
					conn = tls.Server(conn, config)
				}
				from := websockettest.Shake(conn, "")
				for {
					h, err := ws.ReadHeader(from)
					if err != nil {
						return
					}
					if _, err := from.Discard(int(h.Length)); err != nil {
						return
					}
					if h.OpCode == ws.OpPong {
						answered <- true
						continue
					}
					_, _ = io.WriteString(conn, "\x82\x05hello\x89\x04ping\x89\x00\x8a\x00") // an end shows in the next frame
				}
			})
			client := workertest.Client(t, all[0], setup, at)
			pongs := func() {
				for range 2 {
					select {
					case <-answered:
					case <-time.After(workertest.Timeout):
						t.Fatal("a ping was not answered")
					}
				}
			}
			pongs()
			if err := client.Run(); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				pongs()
			}
		})
	}
}

// Our server answers another's client, and tells what it does not take.
func TestTheServerClosesWithWhatIsWrong(t *testing.T) {
	server := workertest.Server(t, all[0], contract.Setup{Transport: name, Exchange: workertest.Blocks(5, 5)})
	for message, closes := range map[string]bool{"12345": false, "1234": true, "123456": true} {
		c, err := websocket.Dial("ws://"+server.Ready().Addresses[0]+"/any", "", "http://localhost/")
		if err != nil {
			t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(workertest.Timeout))
		var reply []byte
		if err = websocket.Message.Send(c, []byte(message)); err == nil {
			err = websocket.Message.Receive(c, &reply)
		}
		if closes != errors.Is(err, io.EOF) || !closes && len(reply) != 5 {
			t.Errorf("%q: %d bytes, %v", message, len(reply), err)
		}
		_ = c.Close() // nothing is left to be sent
	}
}

// Whether idle or with a message in flight.
func TestConnectionsEndByAClose(t *testing.T) {
	for what, answers := range map[string]int{"idle": 3, "in flight": 1} {
		t.Run(what, func(t *testing.T) {
			ended, begun := make(chan error, 1), make(chan bool, 4)
			at := workertest.Serve(t, func(conn net.Conn) {
				_, err := ws.Upgrade(conn)
				for n := 0; err == nil; n++ {
					var message []byte
					if message, _, err = wsutil.ReadClientData(conn); err == nil && n < answers {
						err = wsutil.WriteServerBinary(conn, message)
					}
					begun <- true
				}
				ended <- err
			})
			setup := contract.Setup{Transport: name, Exchange: workertest.Blocks(5, 5), Options: map[string]any{"verify": "length"}, Load: contract.Load{Amount: 2}}
			client := workertest.Client(t, all[0], setup, at)
			go func() { _ = client.Run() }() // until it is closed
			for range 3 - (3-answers)/2 {
				<-begun
			}
			_ = client.Close() // what it leaves unfinished does not matter here
			select {
			case err := <-ended:
				var closed wsutil.ClosedError
				if !errors.As(err, &closed) || closed.Code != ws.StatusNormalClosure {
					t.Errorf("the server saw %v, expected a close with 1000", err)
				}
			case <-time.After(workertest.Timeout):
				t.Error("the server saw no end")
			}
		})
	}
}

// theirs is a server by another library.
func theirs(t *testing.T, handle func(*websocket.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: websocket.Server{Handler: handle}}
	go func() { _ = s.Serve(l) }() // until it is closed
	t.Cleanup(func() { _ = s.Close() })
	return l.Addr().String()
}

// run runs the client's load to its end.
func run(t *testing.T, setup contract.Setup, at string) contract.Result {
	t.Helper()
	setup.Role, setup.Seed, setup.Peers, setup.Load.Connections = contract.Client, 1, []string{at}, 1
	client := workertest.Start(t, all...)
	client.Setup(setup)
	client.Mark(1, true)
	client.Start()
	return *client.Expect("result").Result
}
