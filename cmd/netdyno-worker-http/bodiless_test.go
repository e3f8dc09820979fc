package main

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
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/loopback"
)

// Bytes after a reply that has no body are told from the next reply: the connection is
// given up for another, as curl does, and every request that was taken counts.
func TestBytesAfterAReplyWithoutABody(t *testing.T) {
	t.Parallel()
	const noContent, notModified = "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"
	for name, c := range map[string]struct {
		head, stray string
		later       time.Duration
		options     map[string]any
		redialled   bool
	}{
		"204":                {noContent, "0\r\n\r\n", 0, map[string]any{"status": 204.0}, true},
		"304":                {notModified, "hello", 0, map[string]any{"status": 304.0}, true},
		"POST":               {noContent, "0\r\n\r\n", 0, map[string]any{"status": 204.0, "method": "POST"}, true},
		"later":              {noContent, "0\r\n\r\n", time.Millisecond, map[string]any{"status": 204.0}, true},
		"none":               {noContent, "", 0, map[string]any{"status": 204.0}, false},
		"another reply late": {"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0, map[string]any{"status": 204.0}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var taken atomic.Int64
			address := workertest.Serve(t, func(conn net.Conn) {
				for r := bufio.NewReader(conn); ; {
					if _, err := http.ReadRequest(r); err != nil {
						return
					}
					taken.Add(1)
					first, rest := c.head+c.stray, ""
					if c.later > 0 {
						first, rest = c.head, c.stray
					}
					_, _ = io.WriteString(conn, first) // an end shows in the next request
					if rest != "" {
						time.Sleep(c.later)
						_, _ = io.WriteString(conn, rest)
					}
				}
			})
			c.options["verify"] = "status"
			client := workertest.Start(t, all...)
			client.Setup(contract.Setup{
				Transport: "go-http1", Role: contract.Client, Peers: []string{address}, Options: c.options, Load: contract.Load{Connections: 2, Amount: 50, ThinkNs: 10 * int64(c.later)},
			})
			client.Start()
			r := client.Expect("result").Result
			if r.Counts.Exchanges != 100 || len(r.Counts.Errors) > 0 || (r.Counts.Redialled > 0) != c.redialled || c.later == 0 && taken.Load() != 102 {
				t.Errorf("counts %+v, reasons %v, the server took %d; want 100 exchanges and 102 requests, connections made again: %v", r.Counts, r.Reasons, taken.Load(), c.redialled)
			}
		})
	}
}

// What comes between two requests that may not be sent twice is a failure with its reason.
func TestBytesThatMeetTheNextRequest(t *testing.T) {
	t.Parallel()
	address := workertest.Serve(t, func(conn net.Conn) {
		r := bufio.NewReader(conn)
		for {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\n\r\n") // an end shows in the next request
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			_, _ = io.WriteString(conn, "stray\r\n")
		}
	})
	client := workertest.Start(t, all...)
	client.Setup(contract.Setup{
		Transport: "go-http1", Role: contract.Client, Peers: []string{address}, Options: map[string]any{"verify": "status", "status": 204.0, "method": "POST"},
		Load: contract.Load{Connections: 1, Amount: 9},
	})
	client.Start()
	r := client.Expect("result").Result
	if len(r.Reasons) != 1 || r.Reasons[0].Kind != contract.Peer || !strings.Contains(r.Reasons[0].Text, "bytes after a reply without a body") || r.Counts.Errors[contract.Peer]+r.Counts.Exchanges != 9 {
		t.Errorf("counts %+v, reasons %v", r.Counts, r.Reasons)
	}
}

// What is asked for is the URL as it was written, an empty query included.
func TestAnEmptyQueryIsAsked(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"go-http1", "fasthttp", "go-http2"} {
		for _, path := range []string{"/x?", "/?", "/a/../b?", "/x??", "/x?a=?", "/x"} {
			t.Run(client+" "+path, func(t *testing.T) {
				t.Parallel()
				seen := make(chan string, 1)
				server := loopback.HTTP(t, func(_ http.ResponseWriter, r *http.Request) {
					select {
					case seen <- r.RequestURI:
					default:
					}
				})
				b := workertest.Start(t, all...)
				b.Setup(contract.Setup{
					Transport: client, Role: contract.Client, Peers: []string{server.Addr}, Options: map[string]any{"path": path, "verify": "status"}, Load: contract.Load{Connections: 1},
				})
				if got := <-seen; got != path {
					t.Errorf("it asks for %q, want %q", got, path)
				}
			})
		}
	}
}
