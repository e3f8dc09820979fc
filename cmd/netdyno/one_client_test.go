package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
)

// oddly answers every request with its length given twice, which one client takes.
func oddly(t *testing.T) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return // the test has ended
			}
			go func() {
				defer c.Close()
				for b := make([]byte, 4096); ; {
					n, err := c.Read(b)
					if err != nil {
						return // the client is gone
					}
					for range strings.Count(string(b[:n]), "\r\n\r\n") {
						_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok") // as above
					}
				}
			}()
		}
	}()
	return "http://" + l.Addr().String() + "/"
}

// Servers of one wire are compared by one client, that which all of them let ask, also where
// the choice is among clients on Go's libraries.
func TestServersAreComparedByOneClient(t *testing.T) {
	t.Parallel()
	directory, path, _ := withClients(t)
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	defer plain.Close()
	paths := filepath.Join(t.TempDir(), "paths")
	if err := os.WriteFile(paths, []byte("/a\n/b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, asked := range [][]string{{plain.URL, oddly(t)}, {oddly(t), plain.URL}, {oddly(t), plain.URL, "--paths", paths}, {plain.URL, oddly(t), "--expect", "body"}} {
		c := exec.CommandContext(t.Context(), filepath.Join(directory, "netdyno"), append([]string{"run", "--dry-run"}, asked...)...)
		c.Dir, c.Env = t.TempDir(), append(os.Environ(), "PATH="+path)
		said, err := c.CombinedOutput()
		if err != nil || strings.Count(string(said), "asked by go-http1") != 2 {
			t.Errorf("%v: %v: %s", asked, err, said)
		}
	}
}

// Servers that choose different protocols are not compared unless the user holds them to one.
func TestServersOfTwoProtocols(t *testing.T) {
	t.Parallel()
	directory, path, _ := withClients(t)
	ok := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	older, newer := httptest.NewTLSServer(ok), httptest.NewUnstartedServer(ok)
	newer.EnableHTTP2 = true
	newer.StartTLS()
	defer older.Close()
	defer newer.Close()
	run := func(more ...string) (string, error) {
		c := exec.CommandContext(t.Context(), filepath.Join(directory, "netdyno"), append([]string{"run", "--dry-run", "-k", older.URL, newer.URL}, more...)...)
		c.Dir, c.Env = t.TempDir(), append(os.Environ(), "PATH="+path)
		said, err := c.CombinedOutput()
		return string(said), err
	}
	if said, err := run(); err == nil || !strings.Contains(said, "answers by HTTP/1.1 and") || !strings.Contains(said, "by HTTP/2.0") {
		t.Errorf("%v: %s", err, said)
	}
	if said, err := run("--http1.1"); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}

// forbid runs a command that may set up no io_uring, as in a container by Docker's filter.
const forbid = `
import ctypes, os, struct, sys
SETUP, ALLOW, DENY = 425, 0x7fff0000, 0x00050001 # io_uring_setup; EPERM
code = [(0x20, 0, 0, 0), (0x15, 0, 1, SETUP), (0x06, 0, 0, DENY), (0x06, 0, 0, ALLOW)]
filter = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *c) for c in code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(filter)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
    sys.exit("prctl: %d" % ctypes.get_errno())
os.execv(sys.argv[1], sys.argv[1:])
`

// Where io_uring is forbidden a native client on epoll asks, and that is said.
func TestWithoutIoUring(t *testing.T) {
	t.Parallel()
	directory, path, _ := withClients(t)
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	s.Config.Protocols = protocols
	s.Start()
	defer s.Close()
	healthy := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(healthy, health.NewServer())
	reflection.Register(healthy)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = healthy.Serve(l) }() // Stop ends it
	defer healthy.Stop()
	for client, url := range map[string][]string{
		"http1-asio":        {s.URL},
		"h2-asio":           {s.URL, "--http2-prior-knowledge"},
		"grpc-nghttp2-asio": {"grpc://" + l.Addr().String() + "/grpc.health.v1.Health/Check"},
	} {
		c := exec.CommandContext(t.Context(), "python3", append([]string{"-c", forbid, filepath.Join(directory, "netdyno"), "run", "-c", "1", "-n", "20"}, url...)...)
		c.Dir, c.Env = t.TempDir(), append(os.Environ(), "PATH="+path)
		said, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(said), "asked by "+client) || !strings.Contains(string(said), "io_uring is not to be had") {
			t.Errorf("%v: %s", err, said)
		}
	}
}
