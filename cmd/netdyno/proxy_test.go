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
// asked as curl asks one, and its credentials are kept nowhere. The servers are this
// process, whose other children some tests freeze: it runs beside none of them.
func TestThroughAProxy(t *testing.T) {
	plain := newRecorder(t, nil)
	encrypted := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	t.Cleanup(encrypted.Close)
	directory, path, _ := withClients(t)
	for url, first := range map[string]string{plain.URL + "/a?b": "GET " + plain.URL + "/a?b", encrypted.URL + "/a": "CONNECT " + strings.TrimPrefix(encrypted.URL, "https://")} {
		p := &proxy{asked: map[string]bool{}}
		front := httptest.NewServer(p)
		out := filepath.Join(t.TempDir(), "out")
		run := exec.CommandContext(t.Context(), filepath.Join(directory, "netdyno"), url, "-k", "-x", strings.Replace(front.URL, "http://", "http://ann:s3cret-word@", 1), "-c", "3", "amount=20", "blocks=1", "--out", out)
		run.Env = append(os.Environ(), "PATH="+path)
		said, err := run.CombinedOutput()
		p.mu.Lock()
		if err != nil || len(p.asked) != 1 || !p.asked[first+" Basic YW5uOnMzY3JldC13b3Jk"] || !strings.Contains(string(said), "1 trial planned: 1 valid") {
			t.Errorf("%s: the proxy was asked %v; %v, %s", url, p.asked, err, said)
		}
		p.mu.Unlock()
		if seen, times := plain.took(); strings.HasPrefix(url, "http:") && (len(seen) != 1 || seen[0] != "GET /a?b of SELF" && !strings.HasPrefix(seen[0], "GET /a?b of SELF; Accept-Encoding") || times < 3+3+60) {
			t.Errorf("the server got %d times %q", times, seen)
		}
		if n := p.tunnels.Load(); strings.HasPrefix(url, "https:") && n != 1+3 {
			t.Errorf("%d tunnels, want one for the first requests and one for each connection", n)
		}
		found := exec.CommandContext(t.Context(), "grep", "-rl", "s3cret-word", out)
		if where, _ := found.Output(); strings.Contains(string(said), "s3cret-word") || len(where) > 0 {
			t.Errorf("the secret is in %s, or printed: %s", where, said)
		}
		front.Close()
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

// HTTP/2 goes through a proxy in a tunnel for each connection.
func TestHTTP2ThroughAProxy(t *testing.T) {
	t.Parallel()
	directory, path, _ := withClients(t)
	var taken atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Proto == "HTTP/2.0" {
			taken.Add(1)
		}
		_, _ = io.WriteString(w, "ok") // the client judges what comes
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	for _, streams := range []string{"inflight=1", "inflight=4"} {
		tunnels, requests, said := int64(0), int64(0), []byte(nil)
		var err error
		for tries := 0; tries == 0 || tries < 5 && strings.Contains(string(said), "did not run"); tries++ { // a busy machine stood still
			p := &proxy{asked: map[string]bool{}}
			front := httptest.NewServer(p)
			before := taken.Load()
			run := exec.CommandContext(t.Context(), filepath.Join(directory, "netdyno"), server.URL+"/a", "-k", "-x", strings.Replace(front.URL, "http://", "http://ann:s3cret-word@", 1), "-c", "3", "amount=20", "blocks=1", streams, "--out", filepath.Join(t.TempDir(), "out"))
			run.Env = append(os.Environ(), "PATH="+path)
			said, err = run.CombinedOutput()
			front.Close()
			tunnels, requests = p.tunnels.Load(), taken.Load()-before
		}
		if err != nil || !strings.Contains(string(said), "1 trial planned: 1 valid") || tunnels != 1+3 || requests < 3+3+60 {
			t.Errorf("%s: %d tunnels, %d requests; %v, %s", streams, tunnels, requests, err, said)
		}
	}
}
