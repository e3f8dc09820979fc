package foreign_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"log"
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
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"

	"netdyno/internal/work/worker/workertest"
)

// told is what a run by URL says that it sent, in its findings.
type told struct {
	Requests, Probe, Verify, Warmup, Window, After, Again int64
	Untold                                                int `json:"untold_trials"`
}

// measure runs netdyno on URLs, and returns the number of requests that netdyno says it
// sent, and what netdyno printed.
func measure(t *testing.T, args ...string) (told, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	c := exec.CommandContext(t.Context(), filepath.Join(bin, "netdyno"), append(slices.Clone(args), "--out", out)...)
	c.Dir = t.TempDir()
	screen, err := c.CombinedOutput()
	text, _ := os.ReadFile(filepath.Join(out, "findings.json")) // none is no account
	var document struct{ Sent *told }
	if json.Unmarshal(text, &document) != nil || document.Sent == nil {
		t.Fatalf("netdyno %q ended with %v and left no account: %s", args, err, screen)
	}
	return *document.Sent, string(screen)
}

// agrees demands that a run sent as many requests as its servers took. open says that the
// servers end connections while requests arrive: a request that was sent twice may then
// not have been taken the first time.
func (s told) agrees(t *testing.T, taken int64, open bool) {
	t.Helper()
	slack := int64(0)
	if open {
		slack = s.Again
	}
	if s.Untold > 0 || s.Requests < taken || s.Requests > taken+slack {
		t.Errorf("the run says that it sent %+v; the servers took %d", s, taken)
	}
	if sum := s.Probe + s.Verify + s.Warmup + s.Window + s.After + s.Again; sum != s.Requests || s.Probe == 0 || s.Window == 0 {
		t.Errorf("the parts of %+v make %d, and none of the first ones or the window's may be missing", s, sum)
	}
}

// handled counts the requests that its server takes, and answers them.
type handled struct {
	taken  atomic.Int64
	answer func(w http.ResponseWriter, r *http.Request, n int64)
}

// ServeHTTP implements http.Handler.
func (h *handled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n := h.taken.Add(1)
	_, _ = io.Copy(io.Discard, r.Body)
	if h.answer != nil {
		h.answer(w, r, n)
		return
	}
	_, _ = io.WriteString(w, "hello")
}

// serving stands a server up and returns its URL; encrypted or not it speaks
// both versions of HTTP.
func (h *handled) serving(t *testing.T, encrypted bool) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // a look at the port is no handshake
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetHTTP2(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.EnableHTTP2 = true
	if encrypted {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s.URL
}

// clients are those that a URL can have, by wire.
var clients = map[string][]string{
	"http/1.1": {"go-http1", "fasthttp", "http1-uring", "http1-asio"},
	"h2c":      {"go-http2", "h2-uring", "h2-asio"},
	"grpc":     {"go-grpc", "grpc-nghttp2", "grpc-nghttp2-asio"},
}

// now and then, beyond the first requests and the verification, a server does something else.
func nowAndThen(n int64) bool { return n > 20 && n%15 == 0 }

// ways are how a URL is asked for, and how its server answers.
var ways = []struct {
	name   string
	wire   string
	tls    bool
	answer func(w http.ResponseWriter, r *http.Request, n int64)
	path   string
	args   []string
}{
	{name: "a number", args: []string{"-n", "200", "-c", "4"}},
	{name: "a time", args: []string{"-c", "3", "window=200ms", "warmup=100ms", "blocks=2"}},
	{name: "a rate", args: []string{"-q", "150", "-c", "3", "window=300ms", "warmup=100ms", "blocks=1"}},
	{name: "several loads", args: []string{"-c", "1,7", "window=150ms", "warmup=50ms", "blocks=2"}},
	{name: "encrypted", tls: true, args: []string{"-k", "-n", "100", "-c", "3"}},
	{name: "errors", answer: func(w http.ResponseWriter, _ *http.Request, n int64) {
		if nowAndThen(n) {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}, args: []string{"-c", "3", "window=200ms", "warmup=100ms", "blocks=1", "--max-errors", "50%"}},
	{name: "resets within replies", answer: func(w http.ResponseWriter, _ *http.Request, n int64) {
		_, _ = io.WriteString(w, "hello")
		if nowAndThen(n) {
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
	}, args: []string{"-c", "3", "window=200ms", "warmup=100ms", "blocks=1", "--max-errors", "90%"}},
	{name: "redirected", path: "/old", answer: func(w http.ResponseWriter, r *http.Request, _ int64) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusFound)
		}
	}, args: []string{"-L", "-n", "100", "-c", "2"}},
	{name: "several in flight", wire: "h2c", args: []string{"-c", "2", "inflight=4", "window=200ms", "warmup=100ms", "blocks=1"}},
}

// A run by its URL says that it sent as many requests as its server took, netdyno's first
// questions and the client's try included, with every client, however the server is asked
// and whatever it answers.
func TestAServerTookWhatAURLSent(t *testing.T) {
	for _, wire := range []string{"http/1.1", "h2c"} {
		for i, client := range clients[wire] {
			for j, c := range ways {
				turn := (i+j)%len(clients[wire]) == 0 && (c.wire != "" || (j%2 == 0) == (wire == "h2c")) // soak has every client in every way
				if c.wire != "" && c.wire != wire || !turn && os.Getenv("NETDYNO_SOAK") == "" {
					continue
				}
				t.Run(client+", "+c.name, func(t *testing.T) {
					t.Parallel()
					if _, err := catalog.Offer(client, ""); err != nil {
						t.Skip(err) // what some cannot build
					}
					s := &handled{answer: c.answer}
					args := append([]string{s.serving(t, c.tls) + c.path, "client=" + client}, c.args...)
					if wire == "h2c" {
						args = append(args, "--http2")
					} else if c.tls {
						args = append(args, "--http1.1")
					}
					said, _ := measure(t, args...)
					said.agrees(t, s.taken.Load(), false)
				})
			}
		}
	}
}

// The client that netdyno chooses, commands that make several trials of a URL, several
// URLs, and one whose client is changed because the chosen one cannot ask it.
func TestAServerTookWhatACommandSent(t *testing.T) {
	short := []string{"-c", "2", "window=150ms", "warmup=50ms"}
	for _, c := range []struct {
		name    string
		command []string
		servers int
		args    []string
	}{
		{name: "the chosen client", servers: 1, args: append([]string{"blocks=2"}, short...)},
		{name: "two URLs", servers: 2, args: append([]string{"blocks=2"}, short...)},
		{name: "capacity", command: []string{"capacity"}, servers: 1, args: []string{"--objective", "response_p99 <= 200ms", "-c", "2", "window=150ms", "warmup=50ms", "blocks=3"}},
		{name: "curl", command: []string{"curl"}, servers: 1, args: []string{"-H", "A: b", "--data-raw", "x"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			args, servers := c.command, make([]*handled, c.servers)
			for i := range servers {
				servers[i] = &handled{}
				args = append(args, servers[i].serving(t, false))
			}
			said, screen := measure(t, append(args, c.args...)...)
			if want := fmt.Sprintf("sent %d requests: %d beforehand", said.Requests, said.Probe); !strings.Contains(screen, want) {
				t.Errorf("the screen does not say %q: %s", want, screen)
			}
			taken := int64(0)
			for _, s := range servers {
				taken += s.taken.Load()
			}
			said.agrees(t, taken, false)
		})
	}
}

// A server of gRPC took as many calls as a run by its URL says that it made, calls to
// reflection included.
func TestAServerTookTheCallsOfAURL(t *testing.T) {
	for _, client := range clients["grpc"] {
		for _, c := range []struct {
			name       string
			tls, fails bool
			args       []string
		}{
			{name: "a number", args: []string{"-n", "100", "-c", "2"}},
			{name: "a time", args: []string{"-c", "3", "window=200ms", "warmup=100ms", "blocks=1"}},
			{name: "encrypted", tls: true, args: []string{"-k", "-n", "100", "-c", "2"}},
			{name: "errors", fails: true, args: []string{"-c", "3", "window=200ms", "warmup=100ms", "blocks=1", "--max-errors", "50%"}},
		} {
			t.Run(client+", "+c.name, func(t *testing.T) {
				t.Parallel()
				if _, err := catalog.Offer(client, ""); err != nil {
					t.Skip(err) // what some cannot build
				}
				s := &called{fails: c.fails}
				said, _ := measure(t, append([]string{s.serving(t, c.tls) + "/grpc.health.v1.Health/Check", "client=" + client}, c.args...)...)
				said.agrees(t, s.taken.Load(), false)
			})
		}
	}
}

// called is a server of gRPC that counts its calls.
type called struct {
	healthpb.UnimplementedHealthServer
	taken atomic.Int64
	fails bool
}

// Check implements healthpb.HealthServer.
func (c *called) Check(context.Context, *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	if c.fails && nowAndThen(c.taken.Load()) {
		return nil, status.Error(codes.ResourceExhausted, "full")
	}
	return &healthpb.HealthCheckResponse{Status: healthpb.HealthCheckResponse_SERVING}, nil
}

// serving stands the server up and returns its URL.
func (c *called) serving(t *testing.T, encrypted bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	scheme, options := "grpc://", []grpc.ServerOption{
		grpc.UnaryInterceptor(func(ctx context.Context, r any, _ *grpc.UnaryServerInfo, h grpc.UnaryHandler) (any, error) {
			c.taken.Add(1)
			return h(ctx, r)
		}),
		grpc.StreamInterceptor(func(s any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, h grpc.StreamHandler) error {
			c.taken.Add(1)
			return h(s, stream)
		}),
	}
	if encrypted {
		scheme, options = "grpcs://", append(options, grpc.Creds(credentials.NewServerTLSFromCert(certificate(t))))
	}
	server := grpc.NewServer(options...)
	healthpb.RegisterHealthServer(server, c)
	reflection.Register(server)
	t.Cleanup(server.Stop)
	go func() { _ = server.Serve(l) }()
	return scheme + l.Addr().String()
}

// certificate is a server's own, of an authority that nobody knows.
func certificate(t *testing.T) *tls.Certificate {
	t.Helper()
	made := workertest.Certificate(t)
	pair, err := tls.X509KeyPair([]byte(made.Certificate), []byte(made.Key))
	if err != nil {
		t.Fatal(err)
	}
	return &pair
}

// logged waits until nginx has logged so many requests, by lines with that end, and a moment
// longer for more, and returns how many those are: it logs one after its reply.
func logged(t *testing.T, path, end string, least int64) (lines int64) {
	t.Helper()
	for deadline := time.Now().Add(workertest.Timeout); ; time.Sleep(50 * time.Millisecond) {
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		before := lines
		if lines = int64(strings.Count(string(log), end)); lines >= least && lines == before || time.Now().After(deadline) {
			return lines
		}
	}
}
