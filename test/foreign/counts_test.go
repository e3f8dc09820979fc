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

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/work/worker/workertest"
)

// sent is how many requests a trial's clients say that they sent: one to verify each
// connection, those of the warm-up and the window, those that drained, failed or were
// left unanswered.
func sent(t *testing.T, r record.Record) int64 {
	t.Helper()
	if r.Outcome != record.OK {
		t.Fatalf("the trial is %s: %v", r.Outcome, r.Failure)
	}
	var all int64
	for _, w := range r.Workers {
		if w.Role != contract.Client {
			continue
		}
		if w.Result == nil || w.Ready == nil {
			t.Fatalf("a client left no account: %+v", w)
		}
		counts := w.Result.Counts // of an amount, whose window is all
		if w.Close != nil {
			counts = w.Close.Reading.Counts // since it was ready
		}
		all += int64(w.Ready.Connections) + counts.Exchanges + w.Result.Drained + w.Result.Unfinished
		for _, n := range counts.Errors {
			all += n
		}
	}
	return all
}

// kind is how a server answers, and what a trial must know of it.
type kind struct {
	name, reply string
	failing     string // every twentieth reply; "" for none
	most        int    // requests of a connection; 0 for any number
	args        []string
}

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
		{name: "interim replies", reply: "HTTP/1.1 103 Early Hints\r\n\r\n" + ok + hello},
		{name: "ended by the connection", reply: "HTTP/1.0 200 OK\r\n\r\nhello", most: 1},
		{name: "closes after seven", reply: ok + "Content-Length: 5\r\n\r\nhello", most: 7},
		{name: "fresh connections", reply: ok + hello, most: 1, args: []string{"fresh=yes"}},
		{name: "1 MiB", reply: ok + "Content-Length: 1048576\r\n\r\n" + strings.Repeat("x", 1<<20), args: []string{"response=1MiB"}},
		{name: "429 now and then", reply: ok + hello, failing: "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n", args: []string{"max_errors=100%"}},
		{name: "503 now and then", reply: ok + hello, failing: "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 3\r\n\r\nbad", args: []string{"max_errors=100%"}},
	}
	all := slices.Sorted(maps.Keys(loads))
	for i, c := range kinds {
		here := []string{all[i%len(all)]} // soak has every kind under every load
		if os.Getenv("NETDYNO_SOAK") != "" {
			here = all
		}
		for _, load := range here {
			for _, client := range []string{"go-http1", "fasthttp", "http1-uring", "http1-asio"} {
				t.Run(fmt.Sprintf("%s, %s, %s", c.name, load, client), func(t *testing.T) { c.agrees(t, client, load) })
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
	slack := int64(0)
	if c.failing != "" && load != "amount" {
		slack = 2 // connections: what fails while the rest drains is in no count
	}
	if got, want := sent(t, r), taken.Load(); got > want || got+slack < want {
		t.Errorf("the clients say that they sent %d requests; the server took %d", got, want)
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
		_, _ = io.Copy(io.Discard, request.Body)
		reply := c.reply
		if i := taken.Add(1); i > 10 && i%20 == 0 && c.failing != "" { // beyond the verification
			reply = c.failing
		}
		if _, err := io.WriteString(conn, reply); err != nil || n == c.most {
			return
		}
	}
}
