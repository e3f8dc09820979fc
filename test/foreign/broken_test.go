package foreign_test

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
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
		{"promises more", reply(size+1, body+"y"), contract.Invalid, "the reply has 1001 bytes, expected 1000", ""},
		{"sends less than it promised", reply(size, body[:100]), contract.Peer, "after 100 of 1000 bytes", ""},
		{"chunked and too short", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", contract.Invalid, "has 3 bytes, expected 1000", ""},
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

// A server that answers the verification and then resets: the load's own errors
// are counted by kind, and a client without any connection left has failed.
func TestServerThatResets(t *testing.T) {
	need(t, nil, "address", "go-http1")
	var answered atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if answered.Add(1) <= 2 { // one for each connection of the trial
			w.Write(make([]byte, 1000))
			return
		}
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.(*net.TCPConn).SetLinger(0) // the close is a reset
		conn.Close()
	}))
	defer server.Close()
	r := trial(t, fromNginx("go-http1", "/", "1000B", "server=address", "opt.server.address="+server.Listener.Addr().String())...)
	switch r.Outcome {
	case record.Failed:
		failed(t, r, contract.Peer, "every connection was lost")
	default:
		errors := int64(0)
		for _, w := range r.Workers {
			if w.Result != nil {
				errors += w.Result.Counts.Errors[contract.Peer]
			}
		}
		if errors == 0 {
			t.Errorf("the trial is %s and has no error of kind peer", r.Outcome)
		}
	}
}

// One end encrypts and the other does not, or with a certificate that nobody
// vouches for.
func TestEncryptionMismatch(t *testing.T) {
	need(t, nil, "address", "go-http1")
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1000)) })
	plain := httptest.NewServer(answer)
	defer plain.Close()
	encrypted := httptest.NewUnstartedServer(answer)
	encrypted.TLS = &tls.Config{MinVersion: tls.VersionTLS13}
	encrypted.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of what is tested
	encrypted.StartTLS()
	defer encrypted.Close()
	for _, c := range []struct {
		name string
		at   *httptest.Server
		tls  string
		want string
	}{
		{"only the client encrypts", plain, "yes", "this client speaks TLS and the server plain text"},
		{"only the server encrypts", encrypted, "no", "the server speaks TLS and this client plain text"},
		{"a stranger's certificate", encrypted, "yes", "certificate"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := trial(t, fromNginx("go-http1", "/", "1000B", "server=address", "tls="+c.tls, "opt.server.address="+c.at.Listener.Addr().String())...)
			failsWith(t, r, "", c.want)
		})
	}
}
