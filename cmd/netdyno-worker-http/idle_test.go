package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// server starts a server whose connections serve handles, and counts the requests
// that it has read.
func server(t *testing.T, handle func(c net.Conn, next func() bool)) (address string, read *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	read = &atomic.Int64{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				from := bufio.NewReader(c)
				handle(c, func() bool {
					r, err := http.ReadRequest(from)
					if err != nil {
						return false
					}
					_, _ = io.Copy(io.Discard, r.Body) // a client that is gone shows at the client
					read.Add(1)
					return true
				})
			}()
		}
	}()
	return l.Addr().String(), read
}

const hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// idler closes each connection as a client writes its fourth request on it, as a
// server does whose keep-alive timeout ends then.
func idler(c net.Conn, next func() bool) {
	for n := 0; next() && n < 3; n++ {
		if _, err := io.WriteString(c, hello); err != nil {
			return
		}
	}
}

// drive lets a client make 2 × 20 exchanges.
func drive(t *testing.T, client, address string, up int64) contract.Result {
	t.Helper()
	b := workertest.Start(t, all...)
	b.Setup(contract.Setup{
		Transport: client, Role: contract.Client, Peers: []string{address}, Options: map[string]any{"verify": "status"},
		Exchange: contract.Exchange{UpBytes: up, DownBytes: 5}, Load: contract.Load{Connections: 2, Amount: 20},
	})
	b.Start()
	return *b.Expect("result").Result
}

var clients = []string{"go-http1", "fasthttp"}

// An idle connection that the server closes as we write is no error: the request goes
// out once more (RFC 9112, section 9.3.1).
func TestAServerThatClosesAnIdleConnection(t *testing.T) {
	t.Parallel()
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			address, read := server(t, idler)
			r := drive(t, client, address, 0)
			if r.Counts.Exchanges != 40 || len(r.Counts.Errors) > 0 || len(r.Reasons) > 0 {
				t.Errorf("counts %+v, reasons %+v; want 40 exchanges and no error", r.Counts, r.Reasons)
			}
			// Each connection was verified by one more, and each that was made anew had one
			// unanswered.
			if want := 40 + 2 + r.Counts.Redialled; r.Counts.Redialled < 12 || read.Load() != want {
				t.Errorf("%d connections were made again, and the server read %d requests, want at least 12 and %d", r.Counts.Redialled, read.Load(), want)
			}
		})
	}
}

// What does not do the same twice is not sent twice: it fails for that reason, and the
// connection is made anew.
func TestAnIdleConnectionIsClosedUnderAPost(t *testing.T) {
	t.Parallel()
	for _, client := range clients {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			address, read := server(t, idler)
			r := drive(t, client, address, 3)
			failed := r.Counts.Errors[contract.Peer]
			want := []contract.Reason{{Kind: contract.Peer, Text: "the server closed an idle connection", Count: failed}}
			if failed < 8 || r.Counts.Exchanges+failed != 40 || !slices.Equal(r.Reasons, want) {
				t.Errorf("counts %+v, reasons %+v; want 40 in all and %+v", r.Counts, r.Reasons, want)
			}
			if read.Load() != 42 {
				t.Errorf("the server read %d requests, want each of 42 once", read.Load())
			}
		})
	}
}
