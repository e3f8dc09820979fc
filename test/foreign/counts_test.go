package foreign_test

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/work/worker/workertest"
)

// account demands that the clients of a trial say that they sent as many requests as the
// server took. open says that the server ends connections while requests arrive: a
// request that was sent twice, or failed with its connection, may then not have been
// taken the first time. So many may be missing, and no more.
func account(t *testing.T, r record.Record, taken int64, open bool) {
	t.Helper()
	sent, known := r.Sent()
	if r.Failure != nil {
		taken -= r.Failure.Asked
	}
	if !known {
		t.Fatalf("a client does not say what it sent; the trial is %s: %v", r.Outcome, r.Failure)
	}
	slack := int64(0)
	if open {
		slack = sent.Again + lost(r)
	}
	if all := sent.All(); all < taken || all > taken+slack {
		t.Errorf("the clients say that they sent %d requests, %+v; the server took %d, and %d of them are not known", all, sent, taken, slack)
	}
}

// lost is how many exchanges of a trial failed with their connection or never ended.
func lost(r record.Record) int64 {
	n := int64(0)
	for _, w := range r.Workers {
		if w.Role == contract.Client && w.Result != nil {
			n += w.Result.Counts.Errors[contract.Peer] + w.Result.Unfinished
		}
		if w.Role == contract.Client && w.Open != nil {
			n += w.Open.Reading.Counts.Errors[contract.Peer]
		}
	}
	return n
}

// kind is how a server answers, and what a trial must know of it.
type kind struct {
	name, reply string
	failing     string // every twentieth reply; "" for none
	most        int    // requests of a connection; 0 for any number
	open        bool   // it ends connections as requests come
	again       bool   // so that connections are made again
	reset       bool   // the failing reply is followed by a reset
	slow        time.Duration
	loads       []string // of them; nil for any
	clients     []string // of them; nil for any
	args        []string
}

// inGo are the clients in Go.
var inGo = []string{"go-http1", "fasthttp"}

// loads are the ways in which a load is asked for.
var loads = map[string][]string{
	"amount": {"amount=100"}, "window": {"window=300ms", "warmup=200ms"}, "rate": {"window=300ms", "warmup=200ms", "rate=200"},
}

// What a server of somebody else's took is what the clients say that they sent, request
// by request, whatever it answers and however the load is asked for.
func TestAServerTookWhatTheClientsSent(t *testing.T) {
	const ok, hello = "HTTP/1.1 200 OK\r\n", "Content-Length: 5\r\n\r\nhello"
	kinds := []kind{
		{name: "keep-alive", reply: ok + hello},
		{name: "POST", reply: ok + hello, args: []string{"opt.client.method=POST", "opt.client.body=abc", "request=3B"}},
		{name: "HEAD", reply: ok + "Content-Length: 5\r\n\r\n", args: []string{"opt.client.method=HEAD", "response=0B"}},
		{name: "204", reply: "HTTP/1.1 204 No Content\r\n\r\n", args: []string{"opt.client.status=204", "response=0B"}},
		{name: "304", reply: "HTTP/1.1 304 Not Modified\r\n\r\n", args: []string{"opt.client.status=304", "response=0B"}},
		{name: "redirection", reply: "HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", args: []string{"opt.client.status=302", "response=0B"}},
		{name: "empty", reply: ok + "Content-Length: 0\r\n\r\n", args: []string{"response=0B"}},
		{name: "chunked with trailers", reply: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nDigest: a\r\n\r\n"},
		{name: "interim replies", reply: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" + ok + hello},
		{name: "head of 60 KiB", reply: ok + strings.Repeat("X-Policy: "+strings.Repeat("v", 1010)+"\r\n", 60) + hello, clients: inGo},
		{name: "a field of 30 KiB", reply: ok + "X-Policy: " + strings.Repeat("v", 30<<10) + "\r\n" + hello, clients: inGo},
		{name: "HTTP/1.0 kept", reply: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + hello, clients: inGo},
		{name: "ended by the connection", reply: "HTTP/1.0 200 OK\r\n\r\nhello", most: 1, again: true},
		{name: "closes after seven", reply: ok + hello, most: 7, open: true, again: true},
		{name: "closes after seven, POST", reply: ok + hello, most: 7, open: true, again: true, args: []string{"opt.client.method=POST", "max_errors=100%"}},
		{name: "says that it closes", reply: ok + "Connection: close\r\n" + hello, most: 1, again: true},
		{name: "fresh connections", reply: ok + hello, most: 1, args: []string{"fresh=yes"}},
		{name: "1 MiB", reply: ok + "Content-Length: 1048576\r\n\r\n" + strings.Repeat("x", 1<<20), args: []string{"response=1MiB"}},
		{name: "429 now and then", reply: ok + hello, failing: "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", args: []string{"max_errors=100%"}},
		{name: "503 now and then", reply: ok + hello, failing: "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 3\r\n\r\nbad", args: []string{"max_errors=100%"}},
		{name: "closes in place of a reply", reply: ok + hello, failing: "-", args: []string{"max_errors=100%"}},
		{name: "closes in place of a reply, POST", reply: ok + hello, failing: "-", args: []string{"opt.client.method=POST", "max_errors=100%"}},
		{name: "closes within a reply", reply: ok + hello, failing: ok + "Content-Length: 5\r\n\r\nhe", args: []string{"max_errors=100%"}},
		{name: "resets in place of a reply", reply: ok + hello, failing: "-", reset: true, args: []string{"max_errors=100%"}},
		{name: "resets within a reply", reply: ok + hello, failing: ok + "Content-Length: 5\r\n\r\nhe", reset: true, args: []string{"max_errors=100%"}},
		{name: "no HTTP now and then", reply: ok + hello, failing: "what?\r\n\r\n", args: []string{"max_errors=100%"}},
		{name: "slow", reply: ok + hello, slow: 60 * time.Millisecond, loads: []string{"window", "rate"}},
		{name: "slower than the draining", reply: ok + hello, slow: 3 * time.Second, loads: []string{"window"}},
		{name: "slower than the draining, offered", reply: ok + hello, slow: 3 * time.Second, loads: []string{"rate"}},
	}
	all := slices.Sorted(maps.Keys(loads))
	both := slices.Concat(inGo, []string{"http1-uring", "http1-asio"})
	for i, c := range kinds {
		here := all
		if c.loads != nil {
			here = c.loads
		}
		if os.Getenv("NETDYNO_SOAK") == "" { // soak has every kind under every load
			here = here[i%len(here):][:1]
		}
		for _, load := range here {
			clients := both
			if c.clients != nil {
				clients = c.clients
			}
			if os.Getenv("NETDYNO_SOAK") == "" { // and every client
				clients = clients[i%len(clients):][:1]
			}
			for _, client := range clients {
				t.Run(fmt.Sprintf("%s, %s, %s", c.name, load, client), func(t *testing.T) {
					t.Parallel()
					c.agrees(t, client, load)
				})
			}
		}
	}
}

// agrees drives a server that answers so by a client, and compares what both counted.
func (c kind) agrees(t *testing.T, client, load string) {
	t.Helper()
	need(t, nil, "address")
	if _, err := catalog.Offer(client, ""); err != nil {
		t.Skip(err) // what some cannot build
	}
	var taken atomic.Int64
	address := workertest.Serve(t, func(conn net.Conn) { c.serve(conn, &taken) })
	args := append([]string{"client=" + client, "server=address", "opt.server.wire=http/1.1", "opt.server.address=" + address,
		"opt.client.verify=status"}, loads[load]...)
	for _, size := range []string{"request=0B", "response=5B"} {
		name, _, _ := strings.Cut(size, "=")
		if !slices.ContainsFunc(c.args, func(a string) bool { return strings.HasPrefix(a, name+"=") }) {
			args = append(args, size)
		}
	}
	r := trial(t, append(args, c.args...)...)
	if r.Outcome != record.OK {
		t.Fatalf("the trial is %s: %v", r.Outcome, r.Failure)
	}
	account(t, r, taken.Load(), c.open)
	redialled := int64(0)
	for _, w := range r.Workers {
		if w.Role == contract.Client {
			redialled += w.Result.Counts.Redialled
		}
	}
	if c.again && redialled == 0 {
		t.Error("no connection was made again")
	}
}

// serve answers the requests of a connection, and counts them.
func (c kind) serve(conn net.Conn, taken *atomic.Int64) {
	r := bufio.NewReader(conn)
	for n := 1; ; n++ {
		request, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		i, reply := taken.Add(1), c.reply
		_, _ = io.Copy(io.Discard, request.Body)
		failing := i > 10 && i%20 == 0 && c.failing != "" // beyond the verification
		if failing {
			reply = strings.TrimPrefix(c.failing, "-")
		}
		if i > 10 {
			time.Sleep(c.slow)
		}
		if _, err := io.WriteString(conn, reply); err != nil || n == c.most {
			return
		}
		if failing && c.reset {
			_ = conn.(*net.TCPConn).SetLinger(0)
		}
		if failing && (c.reset || c.failing == "-" || strings.HasSuffix(reply, "\nhe")) {
			return
		}
	}
}
