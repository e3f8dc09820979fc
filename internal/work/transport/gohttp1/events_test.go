package gohttp1_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/transport/gohttp1"
	"netdyno/internal/work/worker/workertest"
)

// follows runs a client that follows replies, on one connection, until it has counted enough.
func follows(t *testing.T, address string, options map[string]any, until func(contract.Counts) bool) contract.Result {
	t.Helper()
	transport := gohttp1.Transport{}
	setup := contract.Setup{Role: contract.Client, Seed: 3, Events: true, Peers: []string{address}, Load: contract.Load{Connections: 1, MaxErrors: 1}, Options: map[string]any{"verify": "status"}}
	for name, value := range options {
		setup.Options[name] = value
	}
	setup.Options = workertest.WithDefaults(transport.Describe().Options, setup.Options)
	client, err := transport.Client(setup)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	return workertest.ResultOf(t, client, until)
}

// answered serves an event to the first request, by which the client sees that it may begin, and
// lets write answer others, after each of which it hangs up. It counts the connections.
func answered(t *testing.T, write func(io.Writer)) (address string, made *atomic.Int64) {
	made = new(atomic.Int64)
	return workertest.Serve(t, func(conn net.Conn) {
		for r, first := bufio.NewReader(conn), made.Add(1) == 1; ; first = false {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			if first {
				_, _ = io.WriteString(conn, eventful+"9\r\ndata: a\n\n\r\n0\r\n\r\n")
				continue
			}
			write(conn)
			return
		}
	}), made
}

// chunk is a chunk of HTTP/1.1.
func chunk(text string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(text), text) }

const eventful = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// A reply in events whose framing lies or breaks off has failed, by the right kind.
func TestEventsThatBreakOffHaveFailed(t *testing.T) {
	fixed := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 100\r\n\r\n"
	event := "9\r\ndata: a\n\n\r\n"
	for name, c := range map[string]struct {
		reply, kind string
		fails       contract.ErrorKind
		want        string
	}{
		"a length that is not reached": {fixed + "data: a\n\n", "sse", contract.Peer, "within the reply"},
		"no last chunk":                {eventful + event, "sse", contract.Peer, "within the reply"},
		"half a chunk":                 {eventful + "ff\r\ndata: a\n\n", "sse", contract.Peer, "within the reply"},
		"a chunk that overflows":       {eventful + event + "fffffffffffffffff\r\ndata", "sse", contract.Peer, "chunk"},
		"a negative chunk":             {eventful + event + "-9\r\ndata: a\n\n\r\n", "sse", contract.Peer, "chunk"},
		"a chunk longer than it says":  {eventful + "5\r\ndata: a\n\n\r\n0\r\n\r\n", "sse", contract.Peer, "chunk"},
		"a chat that is broken off":    {eventful + chunk("data: {\"error\":\"out of \\u001b\"}\n\n") + "0\r\n\r\n", "chat", contract.Invalid, "breaks the reply off"},
	} {
		t.Run(name, func(t *testing.T) {
			address, _ := answered(t, func(w io.Writer) { _, _ = io.WriteString(w, c.reply) })
			result := follows(t, address, map[string]any{"events": c.kind}, func(n contract.Counts) bool { return n.Errors[c.fails] >= 2 })
			if result.Counts.Exchanges > 0 || result.Counts.Errors[c.fails] == 0 || len(result.Reasons) == 0 || !strings.Contains(result.Reasons[0].Text, c.want) || strings.Contains(result.Reasons[0].Text, "\x1b") {
				t.Errorf("%+v, %+v; want errors of kind %s with %q", result.Counts, result.Reasons, c.fails, c.want)
			}
		})
	}
}

// One event of 256 MiB, and many tiny ones as fast as they can be sent, take no memory.
func TestEventsOfAnySizeTakeNoMemory(t *testing.T) {
	for kind, part := range map[string]string{"sse": strings.Repeat("x", 64<<10), "lines": strings.Repeat("y", 64<<10), "chunks": strings.Repeat("z", 9000), "sse tiny": strings.Repeat("data:\n\n", 9000)} {
		t.Run(kind, func(t *testing.T) {
			whole := []byte(chunk(part))
			address, _ := answered(t, func(w io.Writer) {
				_, _ = io.WriteString(w, eventful)
				for range 256 << 20 / len(part) {
					if _, err := w.Write(whole); err != nil {
						return
					}
				}
				_, _ = io.WriteString(w, "0\r\n\r\n")
			})
			name, _, _ := strings.Cut(kind, " ")
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			result := follows(t, address, map[string]any{"events": name}, func(n contract.Counts) bool { return n.Exchanges >= 1 })
			runtime.ReadMemStats(&after)
			if grown := after.TotalAlloc - before.TotalAlloc; result.Counts.Exchanges == 0 || grown > 64<<20 {
				t.Errorf("%+v, %+v; %d MiB allocated", result.Counts, result.Reasons, grown>>20)
			}
		})
	}
}

// A reply that the client ends leaves a connection that nothing more can be asked on.
func TestAReplyThatIsEndedTakesItsConnection(t *testing.T) {
	address, made := answered(t, func(w io.Writer) {
		_, _ = io.WriteString(w, eventful)
		for {
			if _, err := io.WriteString(w, "9\r\ndata: a\n\n\r\n"); err != nil {
				return
			}
		}
	})
	result := follows(t, address, map[string]any{"events": "sse", "most_events": int64(3)}, func(n contract.Counts) bool { return n.Exchanges >= 5 })
	if n := result.Counts.Exchanges; n < 5 || made.Load() < n || len(result.Reasons) > 0 || result.Events == nil || result.Events.Count < 3*n {
		t.Errorf("%d exchanges on %d connections, %+v, %+v", n, made.Load(), result.Reasons, result.Events)
	}
}

// A reply that is ended since its time is over is matched by what came of it.
func TestRepliesThatAreEndedInTimeAreMatched(t *testing.T) {
	first := atomic.Bool{}
	s := workertest.Serve(t, func(conn net.Conn) {
		text := "data: b\n\n"
		if first.CompareAndSwap(false, true) {
			text = "data: a\n\n"
		}
		r := bufio.NewReader(conn)
		_, _ = http.ReadRequest(r)
		_, _ = io.WriteString(conn, eventful+chunk(text))
		_, _ = r.ReadByte() // until the client hangs up
	})
	result := follows(t, s, map[string]any{"events": "sse", "verify": "regexp", "expected": "data: a", "events_for": int64(20e6)}, func(n contract.Counts) bool { return n.Errors[contract.Invalid]+n.Exchanges >= 2 })
	if result.Counts.Exchanges > 0 || result.Counts.Errors[contract.Invalid] == 0 {
		t.Errorf("%+v, %+v; expected replies that are invalid", result.Counts, result.Reasons)
	}
}

// What is expected of replies is looked for in all of a reply in events, in the first one, too.
func TestRepliesInEventsAreMatched(t *testing.T) {
	s := workertest.Serve(t, func(conn net.Conn) {
		for r := bufio.NewReader(conn); ; {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			_, _ = io.WriteString(conn, eventful+chunk("data: a\n\n"))
			time.Sleep(time.Millisecond) // so that the first event comes alone
			_, _ = io.WriteString(conn, chunk("data: b\n\n")+"0\r\n\r\n")
		}
	})
	result := follows(t, s, map[string]any{"events": "sse", "verify": "regexp", "expected": "a\n\ndata: b"}, func(n contract.Counts) bool { return n.Exchanges >= 5 })
	if n := result.Counts.Exchanges; n < 5 || len(result.Reasons) > 0 || result.Events.Count < 2*n {
		t.Errorf("%d exchanges, %+v, %+v", n, result.Reasons, result.Events)
	}
}
