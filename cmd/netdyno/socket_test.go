package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
)

// A server behind a Unix socket gets what curl would send it, and the run has figures of
// everything but TCP.
func TestServersBehindUnixSockets(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	_, _, clients := withClients(t)
	native := slices.Contains(clients, "http1-uring") && slices.Contains(clients, "h2-uring")
	for n, c := range []struct {
		listen string
		args   []string
		want   string
	}{
		{"x.sock", []string{"--unix-socket", "x.sock", "http://shop.example/a?b"}, "GET /a?b of shop.example"},
		{"x.sock", []string{"unix:" + work + "/x.sock:/a", "client=go-http1"}, "GET /a of localhost"},
		{"x.sock", []string{"unix:" + work + "/x.sock", "client=go-http1", "opt.client.pool=shared"}, "GET / of localhost"},
		{"x.sock", []string{"http://unix:x.sock:/a/b", "--http2"}, "GET /a/b of localhost"},
		{"x.sock", []string{"unix:x.sock:/new", "-H", "Connection: close"}, "GET /new of localhost; Connection: close"},
		{"x.sock", []string{"unix:" + work + "/x.sock:/a", "client=http1-asio"}, "GET /a of localhost"},
		{"two words.sock", []string{"unix:two words.sock:/x", "-T", "x.sock.txt"}, `PUT /x of localhost; Content-Type: application/octet-stream; "put"`},
		{"@netdyno test " + filepath.Base(work), []string{"--abstract-unix-socket", "netdyno test " + filepath.Base(work), "http://a/"}, "GET / of a"},
	} {
		if slices.Contains(c.args, "client=http1-asio") && !slices.Contains(clients, "http1-asio") {
			continue // it was not built
		}
		at := c.listen
		if at[0] != '@' {
			at = filepath.Join(work, at)
		}
		if err := os.WriteFile(filepath.Join(work, "x.sock.txt"), []byte("put"), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := net.Listen("unix", at)
		if err != nil {
			t.Fatal(err)
		}
		server := newRecorder(t, l)
		said, _, failed := undisturbed(t, work, func() { server.took() }, append(slices.Clone(c.args), "-c", "2", "amount=20", "blocks=2")...)
		got, times := server.took()
		server.Close()
		const asked, verified, measured = 3, 2 * 2, 2 * 2 * 20
		if native && !slices.ContainsFunc(c.args, func(arg string) bool { return strings.HasPrefix(arg, "client=") }) && !strings.Contains(said, "asked by h") {
			t.Errorf("%d: %q is not asked by a client in C++: %s", n, c.args, said)
		}
		if failed != nil || len(got) != 1 || got[0] != c.want || times < asked+verified+measured || !strings.Contains(said, "2 trials, all valid") {
			t.Errorf("%d: %q: the server got %d times %q, want %q; %v, %s", n, c.args, times, got, c.want, failed, said)
		}
	}
}

// A method of gRPC behind one is called as over TCP.
func TestGRPCBehindAUnixSocket(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "rpc.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	reflection.Register(server)
	go func() { _ = server.Serve(l) }() // Stop ends it
	t.Cleanup(server.Stop)
	for _, url := range []string{"grpc+unix:" + socket + ":/grpc.health.v1.Health/Check", "grpc+unix://" + socket + "/grpc.health.v1.Health/Check"} {
		if said, _, err := undisturbed(t, "", func() {}, url, "--expect", "body", "-c", "2", "amount=50", "blocks=1"); err != nil || !strings.Contains(said, "1 trial planned: 1 valid") {
			t.Errorf("%s: %v, %s", url, err, said)
		}
	}
}

func TestWhatIsNoUnixSocketIsNamed(t *testing.T) {
	t.Parallel()
	directory, path, _ := withClients(t)
	work := t.TempDir()
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(work, "dead.sock")})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	dead.Close()
	mute, err := net.Listen("unix", filepath.Join(work, "mute.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	go func() {
		for {
			c, err := mute.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("\x1b[31mno HTTP\r\n")) // the other end judges it
			_ = c.Close()
		}
	}()
	if err := os.WriteFile(filepath.Join(work, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"there is no Unix socket " + work + "/none; start the server first": {"unix:none:/x"},
		"nothing listens on the Unix socket " + work + "/dead.sock":         {"unix:dead.sock:/x"},
		"nothing listens on the Unix socket @nobody-here":                   {"unix:@nobody-here:/x"},
		work + " is a directory; expected a Unix socket":                    {"--unix-socket", ".", "http://a/"},
		work + "/file is a file; expected a Unix socket":                    {"grpc+unix:file:/a.B/C"},
		"found no path of a Unix socket":                                    {"unix:"},
		"the kernel takes at most 107":                                      {"unix:/" + strings.Repeat("p", 200) + ":/x"},
		"speaks no HTTP":                                                    {"unix:mute.sock:/x"},
		"one of them alone":                                                 {"http://a/", "--unix-socket", "a", "--abstract-unix-socket", "b"},
	} {
		run := exec.CommandContext(t.Context(), filepath.Join(directory, "netdyno"), args...)
		run.Dir, run.Env = work, append(os.Environ(), "PATH="+path)
		said, err := run.CombinedOutput()
		if exit := run.ProcessState.ExitCode(); exit != 2 || !strings.Contains(string(said), want) || strings.Count(string(said), "\n") != 1 || strings.Contains(string(said), "\x1b") {
			t.Errorf("%q: status %d, %v, %q, want %q", args, exit, err, said, want)
		}
	}
}

// TLS behind a Unix socket is asked by the name of the URL, over the HTTP that both ends
// agree on.
func TestTLSBehindAUnixSocket(t *testing.T) {
	t.Parallel()
	for proto, args := range map[string][]string{"HTTP/1.1": {"--http1.1"}, "HTTP/2.0": nil} {
		socket := filepath.Join(t.TempDir(), "tls.sock")
		l, err := net.Listen("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		var taken atomic.Int64
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Proto == proto && r.Host == "shop.example" && r.TLS.ServerName == "shop.example" && r.RequestURI == "/a?b" {
				taken.Add(1)
			}
			_, _ = io.WriteString(w, "ok") // the client judges what comes
		}))
		_ = server.Listener.Close() // nobody has connected to it
		server.Listener, server.EnableHTTP2 = l, true
		server.StartTLS()
		t.Cleanup(server.Close)
		said, _, err := undisturbed(t, "", func() { taken.Store(0) }, append([]string{"https://shop.example/a?b", "-k", "--unix-socket", socket, "-c", "2", "amount=20", "blocks=1"}, args...)...)
		const asked, verified, measured = 3, 2, 2 * 20
		if n := taken.Load(); err != nil || n < asked+verified+measured || !strings.Contains(said, proto) || !strings.Contains(said, "1 trial planned: 1 valid") {
			t.Errorf("%s: the server took %d; %v, %s", proto, n, err, said)
		}
	}
}
