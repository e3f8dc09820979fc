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
	"sync"
	"sync/atomic"
	"testing"

	"netdyno/internal/work/worker/workertest"
)

// proxy is an HTTP proxy that keeps what it was asked, once.
type proxy struct {
	mu      sync.Mutex
	asked   map[string]bool
	tunnels atomic.Int64
}

// ServeHTTP implements http.Handler.
func (p *proxy) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	p.mu.Lock()
	p.asked[q.Method+" "+q.RequestURI+" "+q.Header.Get("Proxy-Authorization")] = true
	p.mu.Unlock()
	if q.Header.Get("Proxy-Authorization") == "" {
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if q.Method == http.MethodConnect {
		p.tunnel(w, q.Host)
		return
	}
	q.Header.Del("Proxy-Authorization")
	q.RequestURI = ""
	response, err := http.DefaultTransport.RoundTrip(q)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body) // the client judges what comes
}

func (p *proxy) tunnel(w http.ResponseWriter, to string) {
	far, err := net.Dial("tcp", to)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	p.tunnels.Add(1)
	near, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		_ = far.Close()
		return
	}
	_, _ = io.WriteString(near, "HTTP/1.1 200 OK\r\n\r\n")
	go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
	go func() { _, _ = io.Copy(near, far); _ = near.Close() }()
}

// What goes through a proxy reaches the server as if it had come straight, the proxy is
// asked as curl asks one, with a tunnel for each connection of what is encrypted, and its
// credentials are kept nowhere. The servers are this process, whose other children some tests
// freeze: it runs beside none of them.
func TestThroughAProxy(t *testing.T) {
	plain := newRecorder(t, nil)
	var taken atomic.Int64
	encrypted := func(http2 bool) *httptest.Server {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			taken.Add(1)
			_, _ = io.WriteString(w, "ok") // the client judges what comes
		}))
		s.EnableHTTP2 = http2
		s.StartTLS()
		t.Cleanup(s.Close)
		return s
	}
	for name, c := range map[string]struct {
		server   *httptest.Server
		tunnels  int64 // for the first requests, and one for each connection
		inFlight string
	}{
		"http":  {plain.Server, 0, "inflight=1"},
		"https": {encrypted(false), 1 + 3, "inflight=1"}, "h2": {encrypted(true), 1 + 3, "inflight=1"}, "h2, four in flight": {encrypted(true), 1 + 3, "inflight=4"},
	} {
		p := &proxy{}
		front := httptest.NewServer(p)
		said, out, err := undisturbed(t, "", func() {
			p.mu.Lock()
			p.asked = map[string]bool{}
			p.mu.Unlock()
			p.tunnels.Store(0)
			taken.Store(0)
			plain.took()
		}, c.server.URL+"/a?b", "-k", "-x", strings.Replace(front.URL, "http://", "http://ann:s3cret-word@", 1), "-c", "3", "amount=20", "blocks=1", c.inFlight)
		front.Close()
		first, seen, times := "CONNECT "+strings.TrimPrefix(c.server.URL, "https://"), []string(nil), int(taken.Load())
		if c.tunnels > 0 && strings.Contains(said, "asked by h") {
			c.tunnels++ // a client in C++ is tried beforehand
		}
		if c.tunnels == 0 {
			first = "GET " + c.server.URL + "/a?b"
			if seen, times = plain.took(); len(seen) != 1 || seen[0] != "GET /a?b of SELF" && !strings.HasPrefix(seen[0], "GET /a?b of SELF; Accept-Encoding") {
				t.Errorf("the server got %q", seen)
			}
		}
		if err != nil || len(p.asked) != 1 || !p.asked[first+" Basic YW5uOnMzY3JldC13b3Jk"] || !strings.Contains(said, "1 trial planned: 1 valid") || p.tunnels.Load() != c.tunnels || times < 3+3+60 {
			t.Errorf("%s: the proxy was asked %v, for %d tunnels, the server %d times; %v, %s", name, p.asked, p.tunnels.Load(), times, err, said)
		}
		found := exec.CommandContext(t.Context(), "grep", "-rl", "s3cret-word", out)
		if where, _ := found.Output(); strings.Contains(said, "s3cret-word") || len(where) > 0 {
			t.Errorf("%s: the secret is in %s, or printed: %s", name, where, said)
		}
	}
}

func TestWhatAProxyCannotDoIsNamed(t *testing.T) {
	t.Parallel()
	directory, path, _ := withClients(t)
	asking := httptest.NewServer(&proxy{asked: map[string]bool{}})
	t.Cleanup(asking.Close)
	garbage := workertest.Serve(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "\x1b[31mgarbage\r\n\r\n") // the other end judges it
	})
	for _, c := range []struct{ want, url, proxy string }{
		{"407 Proxy Authentication Required", "http://127.0.0.1:9/", asking.URL},
		{"Proxy Authentication Required", "https://127.0.0.1:9/", asking.URL},
		{"speaks no HTTP", "http://127.0.0.1:9/", garbage},
		{"malformed HTTP", "https://127.0.0.1:9/", garbage},
		{"--proxy: unknown scheme", "http://a/", "ftp://b"},
		{"the way to the proxy would be encrypted", "http://a/", "https://me:s3cret@b"},
		{"expected HOST:PORT", "http://a/", "http://me:s3cret@/x"},
		{"--proxy goes with http://", "grpc://a:1/b.C/D", "127.0.0.1:1"},
	} {
		run := exec.CommandContext(t.Context(), filepath.Join(directory, "netdyno"), c.url, "-x", c.proxy)
		run.Env = append(os.Environ(), "PATH="+path)
		said, err := run.CombinedOutput()
		if run.ProcessState.ExitCode() != 2 || !strings.Contains(string(said), c.want) || strings.Contains(string(said), "s3cret") || strings.Contains(string(said), "\x1b") || strings.Count(string(said), "\n") != 1 {
			t.Errorf("%s through %s: %v, %q, want %q", c.url, c.proxy, err, said, c.want)
		}
	}
}
