package target_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"netdyno/internal/printable"
	"netdyno/internal/run/target"

	"netdyno/test/loopback"
)

// Bounds on asking a stranger: what it may allocate for replies of less than 1 MiB,
// how long its sentence may be, and how far beyond its deadline it may answer on a busy
// machine.
const (
	mostAllocated = 256 << 20
	mostSaid      = 4096
	timeout       = 150 * time.Millisecond
	late          = 5 * time.Second
	holds         = 30 * time.Second // a stranger holds a connection: longer than asking may take
)

// stranger is a server whose connections say what a fuzzer wrote.
type stranger struct {
	address string
	answer  atomic.Pointer[func(net.Conn)] // set between rounds
}

// meet starts a stranger.
func meet(f *testing.F) *stranger {
	f.Helper()
	s := &stranger{}
	s.address = loopback.Serve(f, func(conn net.Conn) {
		answer := *s.answer.Load()
		_ = conn.SetDeadline(time.Now().Add(holds))
		answer(conn)
	})
	return s
}

// saying answers what a client sends first with text, then hangs up or says no more.
func saying(text []byte, stays bool) func(net.Conn) {
	return func(conn net.Conn) {
		if _, err := conn.Read(make([]byte, 4096)); err != nil {
			return
		}
		_, _ = conn.Write(text) // the asker may have gone
		if stays {
			_, _ = io.Copy(io.Discard, conn) // until it goes
		}
	}
}

// within asks and holds the answer to its bounds.
func within(t *testing.T, asked target.Target) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begun := time.Now()
	found, err := target.Ask(ctx, asked)
	if took := time.Since(begun); took > timeout+late {
		t.Errorf("%s: %v after it began, with a deadline of %v", asked.URL, took, timeout)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > mostAllocated {
		t.Errorf("%s: %d bytes were allocated, want at most %d", asked.URL, n, mostAllocated)
	}
	said := found.Words
	if err != nil {
		said = err.Error()
	}
	if t.Logf("%s: %s", asked.URL, said); said == "" || len(said) > mostSaid || printable.Text(said) != said {
		t.Errorf("%s: %d bytes %q, want one printable line", asked.URL, len(said), said)
	}
}

func FuzzHTTP1(f *testing.F) {
	s := meet(f)
	for _, text := range []string{
		"", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\n",
		"HTTP/1.1 302 Found\r\nLocation: http://\x1b[2J/\r\n\r\n", "HTTP/1.1 302 Found\r\nLocation: //[::1%25\xff]:99999/\r\n\r\n",
		"HTTP/1.1 200 \x1b[31mOK\r\nServer: \xe2\x80\xae\r\n\r\n", "HTTP/1.1 500 a\xffb\r\n\r\n\x00\x1b]0;x\x07", strings.Repeat("HTTP/1.1 103 Early Hints\r\n\r\n", 200),
		"HTTP/1.1 204 No Content\r\n\r\n0\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
		"HTTP/1.0 200 OK\r\n\r\nuntil the end", "HTTP/1.1 400 Bad Request\r\n\r\n", "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("x", 100_000), "\x16\x03\x01\x00\x05", "SSH-2.0-x\r\n",
	} {
		f.Add([]byte(text), false, false)
		f.Add([]byte(text), true, true)
	}
	f.Fuzz(func(t *testing.T, text []byte, stays, follow bool) {
		answer := saying(text, stays)
		s.answer.Store(&answer)
		within(t, target.Target{URL: "http://" + s.address + "/", Follow: follow})
	})
}

// frame is one of HTTP/2 (RFC 9113, section 4.1).
func frame(kind, flags, stream byte, payload string) string {
	n := len(payload)
	return string([]byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags, 0, 0, 0, stream}) + payload
}

func FuzzHTTP2(f *testing.F) {
	s := meet(f)
	const data, headers, reset, settings, push, ping, away, window, continuation = 0, 1, 3, 4, 5, 6, 7, 8, 9
	hello := frame(settings, 0, 0, "") + frame(settings, 1, 0, "")
	for _, text := range []string{
		"", hello, hello + frame(headers, 5, 1, "\x88"), hello + frame(headers, 4, 1, "\x88") + frame(data, 1, 1, "hello"),
		hello + frame(headers, 4, 1, "\x88") + frame(reset, 0, 1, "\x00\x00\x00\x02"), hello + frame(away, 0, 0, "\x00\x00\x00\x00\x00\x00\x00\x0benhance\x1b[2J"),
		hello + frame(headers, 0, 1, "\x88") + strings.Repeat(frame(continuation, 0, 1, ""), 500), hello + frame(push, 4, 1, "\x00\x00\x00\x02\x88"),
		hello + frame(window, 0, 0, "\x7f\xff\xff\xff") + frame(window, 0, 0, "\x7f\xff\xff\xff"), hello + strings.Repeat(frame(ping, 0, 0, "12345678"), 500),
		frame(settings, 0, 0, "\x00\x01\xff\xff\xff\xff\x00\x05\x00\xff\xff\xff\x00\x04\x7f\xff\xff\xff"), "\x00\xff\xff\x04\x00\x00\x00\x00\x00", "HTTP/1.1 400 Bad Request\r\n\r\n",
	} {
		f.Add([]byte(text), false, false)
		f.Add([]byte(text), true, true)
	}
	f.Fuzz(func(t *testing.T, text []byte, stays, call bool) {
		answer := saying(text, stays)
		s.answer.Store(&answer)
		asked := target.Target{URL: "http://" + s.address + "/", HTTP2: true}
		if call {
			asked = target.Target{URL: "grpc://" + s.address + unary}
		}
		within(t, asked)
	})
}

// A stranger's bytes in place of a handshake, and behind one.
func FuzzTLS(f *testing.F) {
	s := meet(f)
	borrowed := httptest.NewTLSServer(nil)
	f.Cleanup(borrowed.Close)
	config := &tls.Config{Certificates: borrowed.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}
	for _, text := range []string{
		"", "\x15\x03\x03\x00\x02\x02\x28", "\x16\x03\x03\x40\x00\x02\xff\xff\xff", "HTTP/1.1 400 Bad Request\r\n\r\n", "\x17\x03\x03\xff\xff",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", frame(4, 0, 0, "") + frame(4, 1, 0, "") + frame(1, 5, 1, "\x88"),
	} {
		f.Add([]byte(text), false, false, false)
		f.Add([]byte(text), true, true, true)
		f.Add([]byte(text), false, true, false)
	}
	f.Fuzz(func(t *testing.T, text []byte, stays, shaken, call bool) {
		say := saying(text, stays)
		answer := func(conn net.Conn) {
			if shaken {
				conn = tls.Server(conn, config) // its first read makes the handshake
			}
			say(conn)
		}
		s.answer.Store(&answer)
		asked := target.Target{URL: "https://" + s.address + "/", Insecure: true}
		if call {
			asked = target.Target{URL: "grpcs://" + s.address + unary, Insecure: true}
		}
		within(t, asked)
	})
}
