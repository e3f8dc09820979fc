package foreign_test

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/work/worker/workertest"
)

// A server's fault ends in a record that names the fault.
func TestBrokenServers(t *testing.T) {
	const size = 1000
	body := strings.Repeat("x", size)
	reply := func(promised int, content string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", promised, content)
	}
	for _, c := range []struct {
		name, reply string
		kind        contract.ErrorKind
		want        string
		native      string // of the client in C++, where it has other words
	}{
		{"promises less", reply(size-1, body[1:]), contract.Invalid, "the reply has 999 bytes, expected 1000", ""},
		{"chunked without end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", contract.Peer, "EOF", "after 3 of 1000 bytes"},
		{"closes without a word", "", contract.Peer, "closed before the reply", "was closed before anything came back"},
		{"is no HTTP", "SSH-2.0-OpenSSH_9.2\r\n", "", "malformed HTTP", ""},
		{"says it is busy", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 8\r\n\r\ntoo busy", contract.Invalid, `503 Service Unavailable ("too busy")`, ""},
	} {
		for client, want := range map[string]string{"go-http1": c.want, "http1-uring": cmp.Or(c.native, c.want)} {
			t.Run(c.name+", "+client, func(t *testing.T) {
				t.Parallel()
				need(t, nil, "address", client)
				failsWith(t, trial(t, fromNginx(client, "/", "1000B", "server=address", "opt.server.address="+brokenServer(t, c.reply))...), c.kind, want)
			})
		}
	}
}

// failsWith demands a failed trial; an empty kind is any.
func failsWith(t *testing.T, r record.Record, kind contract.ErrorKind, want string) {
	t.Helper()
	if r.Failure != nil && kind == "" {
		kind = r.Failure.Kind
	}
	failed(t, r, kind, want)
}

// brokenServer answers every request with the same bytes and closes.
func brokenServer(t *testing.T, reply string) string {
	t.Helper()
	return workertest.Serve(t, func(conn net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
			io.WriteString(conn, reply)
		}
	})
}
