package spoken_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/quic-go/quic-go"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"netdyno/internal/run/spoken"
	"netdyno/test/loopback"
)

// web starts a server of net/http, by TLS with a configuration.
func web(t *testing.T, config *tls.Config, protocols func(*http.Protocols)) string {
	t.Helper()
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.Protocols = new(http.Protocols)
	protocols(s.Config.Protocols)
	if config == nil {
		s.Start()
	} else {
		s.TLS, s.EnableHTTP2 = config, s.Config.Protocols.HTTP2()
		s.StartTLS()
	}
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func grpcServer(t *testing.T, options ...grpc.ServerOption) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(options...)
	go func() { _ = s.Serve(l) }() // ends with Stop
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

func TestAt(t *testing.T) {
	h1 := func(p *http.Protocols) { p.SetHTTP1(true) }
	h2 := func(p *http.Protocols) { p.SetHTTP2(true) }
	h2c := func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }
	both := func(p *http.Protocols) { p.SetHTTP1(true); p.SetHTTP2(true) }
	borrowed := httptest.NewTLSServer(http.NotFoundHandler())
	defer borrowed.Close()
	encrypted := grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: borrowed.TLS.Certificates}))
	says := func(text string) func(net.Conn) { return func(c net.Conn) { _, _ = io.WriteString(c, text) } }
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = free.Close()
	for name, c := range map[string]struct {
		at    string
		want  spoken.Wire
		words string
	}{
		"HTTP/1.1":                  {web(t, nil, h1), spoken.Wire{Name: spoken.HTTP1}, "HTTP/1.1"},
		"HTTP/2 by prior knowledge": {web(t, nil, h2c), spoken.Wire{Name: spoken.HTTP2}, "HTTP/2 without TLS"},
		"HTTP/1.1 by TLS":           {web(t, &tls.Config{}, h1), spoken.Wire{Name: spoken.HTTP1, TLS: true}, "HTTP/1.1 by TLS"},
		"HTTP/2 by TLS alone":       {web(t, &tls.Config{NextProtos: []string{"h2"}}, h2), spoken.Wire{Name: spoken.HTTP2, TLS: true}, "HTTP/2 by TLS"},
		"both by TLS":               {web(t, &tls.Config{}, both), spoken.Wire{Name: spoken.HTTP2, TLS: true}, "HTTP/2 by TLS"},
		"TLS with certificates":     {web(t, &tls.Config{ClientAuth: tls.RequireAnyClientCert}, h1), spoken.Wire{TLS: true}, "TLS"},
		"gRPC":                      {grpcServer(t), spoken.Wire{Name: spoken.GRPC}, "gRPC without TLS"},
		"gRPC by TLS":               {grpcServer(t, encrypted), spoken.Wire{Name: spoken.GRPC, TLS: true}, "gRPC by TLS"},
		"echo":                      {loopback.Serve(t, func(c net.Conn) { _, _ = io.Copy(c, c) }), spoken.Wire{Name: spoken.Echo}, "echo"},
		"SSH":                       {loopback.Serve(t, says("SSH-2.0-x\r\n")), spoken.Wire{}, ""},
		"noise":                     {loopback.Serve(t, says(strings.Repeat("\x15\x00\xff", 1000))), spoken.Wire{}, ""},
		"nothing":                   {loopback.Serve(t, says("")), spoken.Wire{}, ""},
		"silence":                   {loopback.Serve(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), spoken.Wire{}, ""},
		"nobody":                    {free.Addr().String(), spoken.Wire{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := spoken.At(t.Context(), c.at); got != c.want || got.String() != c.words {
				t.Errorf("it speaks %+v (%s), want %+v (%s)", got, got, c.want, c.words)
			}
		})
	}
}

func TestQUIC(t *testing.T) {
	borrowed := httptest.NewTLSServer(http.NotFoundHandler())
	defer borrowed.Close()
	l, err := quic.ListenAddr("127.0.0.1:0", &tls.Config{Certificates: borrowed.TLS.Certificates, NextProtos: []string{"h3"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	echo, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()
	go func() {
		for b := make([]byte, 2048); ; {
			n, from, err := echo.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = echo.WriteTo(b[:n], from) // who asks judges it
		}
	}()
	for at, want := range map[string]bool{l.Addr().String(): true, echo.LocalAddr().String(): false, borrowed.Listener.Addr().String(): false, "127.0.0.1:1": false} {
		if got := spoken.QUIC(t.Context(), at); got != want {
			t.Errorf("%s answers QUIC: %v, want %v", at, got, want)
		}
	}
}
