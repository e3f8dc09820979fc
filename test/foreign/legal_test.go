package foreign_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/work/worker/workertest"
)

// counting is a server of a test, and how many requests it has taken.
type counting struct {
	address string
	taken   atomic.Int64
}

// agrees demands a valid trial whose clients counted what the server took, but for one
// verification on each connection, and that connected again or not.
func (s *counting) agrees(t *testing.T, r record.Record, verified int64, again bool) {
	t.Helper()
	if r.Outcome != record.OK {
		t.Fatalf("the trial is %s: %v", r.Outcome, r.Failure)
	}
	var counted, failed, redialled int64
	for _, w := range r.Workers {
		if w.Result != nil && w.Role == contract.Client {
			counted += w.Result.Counts.Exchanges
			redialled += w.Result.Counts.Redialled
			for _, n := range w.Result.Counts.Errors {
				failed += n
			}
		}
	}
	if taken := s.taken.Load(); counted == 0 || counted+verified != taken || failed != 0 {
		t.Errorf("the clients counted %d exchanges, %d errors and verified %d; the server took %d", counted, failed, verified, taken)
	}
	if sent, known := r.Sent(); !known || sent.All()-sent.Again != s.taken.Load() {
		t.Errorf("the clients say that they sent %+v, known: %v; the server took %d, and none of those that went out again before", sent, known, s.taken.Load())
	}
	if again != (redialled > 0) {
		t.Errorf("%d connections were made again; want any: %v", redialled, again)
	}
}

// Servers that keep to HTTP/1.1 in ways that few do.
func TestUnusualHTTP1(t *testing.T) {
	const ok, hello = "HTTP/1.1 200 OK\r\n", "Content-Length: 5\r\n\r\nhello"
	for _, c := range []struct {
		name, reply string
		most        int           // requests of a connection; 0 for any number
		idle        time.Duration // that a connection may be
		again       bool
		args        []string
	}{
		{name: "early hints", reply: "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n" + ok + hello},
		{name: "several interim replies", reply: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" + ok + hello},
		{name: "continue unasked", reply: "HTTP/1.1 100 Continue\r\n\r\n" + ok + hello},
		{name: "head of 60 KiB", reply: ok + strings.Repeat("X-Policy: "+strings.Repeat("v", 1010)+"\r\n", 60) + hello},
		{name: "a field of 30 KiB", reply: ok + "X-Policy: " + strings.Repeat("v", 30<<10) + "\r\n" + hello},
		{name: "chunked with trailers", reply: ok + "Transfer-Encoding: chunked\r\nTrailer: Digest\r\n\r\n2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nDigest: abc\r\n\r\n"},
		{name: "HTTP/1.0", reply: "HTTP/1.0 200 OK\r\n\r\nhello", most: 1, again: true},
		{name: "HTTP/1.0 kept", reply: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n" + hello},
		{name: "closes after each", reply: ok + "Connection: close\r\n" + hello, most: 1, again: true},
		{name: "closes after each, unsaid", reply: ok + hello, most: 1, again: true},
		{name: "closes after seven, unsaid", reply: ok + hello, most: 7, again: true},
		{name: "closes when idle", reply: ok + hello, idle: 5 * time.Millisecond, again: true, args: []string{"rate=50"}},
		{name: "stray bytes after 204", reply: "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", args: []string{"opt.client.status=204"}},
	} {
		for _, client := range []string{"go-http1", "fasthttp"} {
			t.Run(c.name+", "+client, func(t *testing.T) {
				t.Parallel()
				need(t, nil, "address", client)
				s := &counting{}
				s.address = workertest.Serve(t, func(conn net.Conn) {
					r := bufio.NewReader(conn)
					for n := 1; ; n++ {
						if c.idle > 0 && n > 1 {
							_ = conn.SetReadDeadline(time.Now().Add(c.idle))
						}
						request, err := http.ReadRequest(r)
						if err != nil {
							return
						}
						_, _ = io.Copy(io.Discard, request.Body)
						s.taken.Add(1)
						if _, err := io.WriteString(conn, c.reply); err != nil || n == c.most {
							return
						}
					}
				})
				args := append([]string{"client=" + client, "server=address", "opt.server.wire=http/1.1", "opt.server.address=" + s.address,
					"opt.client.verify=status", "response=5B", "amount=50", "request=0B"}, c.args...)
				s.agrees(t, trial(t, args...), 2, c.again || client == "go-http1" && strings.HasPrefix(c.name, "stray"))
			})
		}
	}
}
