package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// closing starts a server that answers each request with the next of several texts
// and then closes the connection, as servers of HTTP/1.0 do.
func closing(t *testing.T, replies ...string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var n atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				if _, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
					_, _ = io.WriteString(c, replies[int(n.Add(1))%len(replies)]) // a client that is gone shows at the client
				}
			}()
		}
	}()
	return l.Addr().String()
}

// TestAServerThatClosesEachConnection: with a connection for every exchange all
// succeed, however the end of a reply is told.
func TestAServerThatClosesEachConnection(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("y", 300)
	for name, c := range map[string]struct {
		replies []string
		bytes   int64
		options map[string]any
	}{
		"HTTP/1.0":                {[]string{"HTTP/1.0 200 OK\r\n\r\n" + body}, 300, map[string]any{"verify": "length"}},
		"HTTP/1.0 with a length":  {[]string{"HTTP/1.0 200 OK\r\nContent-Length: 300\r\n\r\n" + body}, 300, map[string]any{"verify": "length"}},
		"HTTP/1.1 without one":    {[]string{"HTTP/1.1 200 OK\r\n\r\n" + body}, 300, map[string]any{"verify": "length"}},
		"chunks":                  {[]string{"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n12c\r\n" + body + "\r\n0\r\n\r\n"}, 300, map[string]any{"verify": "length"}},
		"no content":              {[]string{"HTTP/1.0 204 No Content\r\n\r\n"}, 0, map[string]any{"verify": "length", "status": 204.0}},
		"nothing":                 {[]string{"HTTP/1.0 200 OK\r\n\r\n"}, 0, map[string]any{"verify": "length"}},
		"compressed":              {[]string{"HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + body}, 300, map[string]any{"verify": "length"}},
		"changing, HTTP/1.0":      {[]string{"HTTP/1.0 200 OK\r\n\r\n" + body, "HTTP/1.0 200 OK\r\n\r\n"}, 300, map[string]any{"verify": "status"}},
		"changing, with a length": {[]string{"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"}, 3, map[string]any{"verify": "status"}},
	} {
		for _, client := range []string{"go-http1", "fasthttp"} {
			t.Run(fmt.Sprintf("%s/%s", client, name), func(t *testing.T) {
				t.Parallel()
				b := workertest.Start(t, all...)
				b.Setup(contract.Setup{
					Transport: client, Role: contract.Client, Peers: []string{closing(t, c.replies...)}, Options: c.options,
					Exchange: contract.Exchange{DownBytes: c.bytes}, Load: contract.Load{Connections: 2, Amount: 20, Fresh: true},
				})
				b.Start()
				r := b.Expect("result").Result
				want := 40 * c.bytes / int64(len(c.replies))
				if r.Counts.Exchanges != 40 || len(r.Counts.Errors) > 0 || r.Counts.ReceivedBytes != want {
					t.Errorf("counts %+v, want 40 exchanges and %d bytes", r.Counts, want)
				}
			})
		}
	}
}
