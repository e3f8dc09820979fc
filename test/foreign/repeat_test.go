package foreign_test

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
)

// named is a connection as errors name it.
var named = regexp.MustCompile(`connect(?:ion)? [12] of 2 to 127\.0\.0\.1:\d+`)

// repeats are servers that refuse the first requests, and what the clients make of it.
var repeats = []struct {
	name     string
	refuse   func(http.ResponseWriter)
	first    int64         // requests that are refused
	away     time.Duration // that it does not listen once it was found
	method   string
	repeated bool
	fails    string
}{
	{name: "503 twice", refuse: answer(503), first: 2, repeated: true},
	{name: "429 twice", refuse: answer(429), first: 2, repeated: true},
	{name: "reset twice", refuse: func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, first: 2, repeated: true},
	{name: "away for a moment", away: 400 * time.Millisecond, repeated: true},
	{name: "away for a moment, POST", away: 400 * time.Millisecond, method: "POST", repeated: true},
	{name: "429 for ever", refuse: answer(429), first: 1 << 40, fails: "429 Too Many Requests, expected 200 OK (tried 6 times)"},
	{name: "reset for ever", refuse: func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, first: 1 << 40, fails: "(tried 6 times)"},
	{name: "404", refuse: answer(404), first: 1 << 40, fails: "404 Not Found, expected 200 OK"},
	{name: "503 once, POST", refuse: answer(503), first: 1, method: "POST", repeated: true},
	{name: "500 once", refuse: answer(500), first: 1, repeated: true},
	{name: "500 for ever, POST", refuse: answer(500), first: 1 << 40, method: "POST", fails: "500 Internal Server Error, expected 200 OK (tried 4 times)"},
}

// A server that is busy or starts when it is first asked is asked again for a while;
// how often is in the record, and in the reason where it stays so.
func TestFirstExchangesAreRepeated(t *testing.T) {
	clients := []string{"go-http1", "fasthttp", "go-http2", "http1-uring", "http1-asio", "h2-uring", "h2-asio"}
	for i, client := range clients {
		for j, c := range repeats {
			if os.Getenv("NETDYNO_SOAK") == "" && (i+2*j)%len(clients) > 1 {
				continue // soak has every client in every case
			}
			t.Run(client+", "+c.name, func(t *testing.T) {
				t.Parallel() // most of it is waiting
				need(t, nil, "address", client)
				s := &counting{address: keptPort(t)}
				server := &http.Server{Addr: s.address, Protocols: new(http.Protocols), Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if s.taken.Add(1) <= c.first {
						c.refuse(w)
						return
					}
					_, _ = w.Write([]byte("hello"))
				})}
				server.Protocols.SetHTTP1(true)
				server.Protocols.SetUnencryptedHTTP2(true)
				t.Cleanup(func() { _ = server.Close() })
				l, err := listenOnKept.Listen(t.Context(), "tcp", s.address)
				if err != nil {
					t.Fatal(err)
				}
				go func() {
					if c.away > 0 {
						look, _ := l.Accept() // the look for the server, before the trial's clients
						_ = look.Close()
						_ = l.Close()
						time.Sleep(c.away)
						if l, err = listenOnKept.Listen(t.Context(), "tcp", s.address); err != nil {
							return // the clients find nobody
						}
					}
					_ = server.Serve(l)
				}()
				wire := map[bool]string{false: "http/1.1", true: "h2c"}[strings.Contains(client, "2")]
				args := []string{"client=" + client, "server=address", "opt.server.wire=" + wire, "opt.server.address=" + s.address,
					"opt.client.verify=status", "response=5B", "amount=50", "request=0B"}
				if c.method != "" {
					args = append(args, "opt.client.method="+c.method)
				}
				r := trial(t, args...)
				account(t, r, s.taken.Load(), false)
				if c.fails != "" {
					if r.Failure == nil || !strings.Contains(r.Failure.Text, c.fails) || !named.MatchString(r.Failure.Text) {
						t.Errorf("the trial is %s: %+v; want it failed: %s, and the connection named", r.Outcome, r.Failure, c.fails)
					}
					return
				}
				completed(t, r, 100)
				for _, w := range r.Workers {
					if w.Role == contract.Client && (w.Ready.Repeated > 0) != c.repeated {
						t.Errorf("%d first exchanges were repeated; want any: %v", w.Ready.Repeated, c.repeated)
					}
				}
			})
		}
	}
}

// keptPort returns an address whose port nobody else is given while the test runs, and
// where nobody listens until listenOnKept does.
func keptPort(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := errors.Join(shared(fd), unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})); err != nil {
		t.Fatal(err)
	}
	at, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", at.(*unix.SockaddrInet4).Port)
}

func shared(fd int) error { return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) }

var listenOnKept = net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) { failed = shared(int(fd)) })
	return errors.Join(err, failed)
}}

func answer(code int) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.WriteHeader(code) }
}
