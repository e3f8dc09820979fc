package main

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A client that knows nothing of netdyno drives a server that stands; what it
// did is summed up at Ctrl-C, and nothing is left running.
func TestListen(t *testing.T) {
	t.Parallel()
	mine := newFamily(t)
	c := exec.CommandContext(t.Context(), filepath.Join(installed(t), "netdyno"), "listen", "server=go-net")
	c.Env = append(os.Environ(), string(mine))
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	first, err := said.ReadString('\n')
	where := regexp.MustCompile(`^go-net listens on (127\.0\.0\.1:\d+), wire echo, on CPU `).FindStringSubmatch(first)
	if where == nil {
		t.Fatalf("it began with %q (%v), want where it listens", first, err)
	}
	exchange(t, where[1], 3)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(said) // ends with the process
	if err := c.Wait(); err != nil {
		t.Errorf("it ended with %v, want status 0", err)
	}
	for _, want := range []string{": 3 exchanges, 300 B up, 300 B down", "CPU ", "per exchange", "memory "} {
		if !strings.Contains(string(rest), want) {
			t.Errorf("the sum has no %q: %s", want, rest)
		}
	}
	mine.mustEnd(t)
}

// exchange is over when the server has closed: by then it has counted what it sent.
func exchange(t *testing.T, address string, times int) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range times {
		if _, err := conn.Write(make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(conn); err != nil || len(rest) > 0 {
		t.Fatalf("after all exchanges came %q, %v; want the connection's end", rest, err)
	}
}

func TestListenRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"transport=go-net,go-epoll", "varies server, client: one server stands at a time"},
		{"transport=go-net connections=1,2", "varies connections"},
		{"transport=go-net opt.nodelay=yes,no", "varies options"},
		{"server=go-neet", `did you mean "go-net"`},
		{"transport=null", "has no role server"},
		{"server=exec opt.server.command=./no-such-server", `start "./no-such-server"`},
		{"server=go-net --bind 8080", "expected host:port, such as 127.0.0.1:8080"},
		{"server=go-net bind=8080", "expected host:port, such as 127.0.0.1:8080"},
		{"server=go-net bind=127.0.0.1:", "expected host:port, such as 127.0.0.1:8080"},
		{"server=go-net bind=127.0.0.1:0 --bind 127.0.0.1:0", "the address is given twice"},
		{"bind=127.0.0.1:0", "no transport is named"},
		{"server=go-net --bind 192.0.2.1:0", "listen on 192.0.2.1:0"},
		{"server=go-net tls=yes", "tls"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Parallel()
			out, err := exec.CommandContext(t.Context(), filepath.Join(installed(t), "netdyno"),
				append([]string{"listen", "--for", "1m"}, strings.Fields(c.args)...)...).CombinedOutput()
			if err == nil || !strings.Contains(string(out), c.want) {
				t.Errorf("listen %s: %v, %s; want a refusal that says %q", c.args, err, out, c.want)
			}
		})
	}
}
