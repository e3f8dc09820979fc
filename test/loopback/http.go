package loopback

import (
	"net"
	"net/http"
	"testing"
)

// HTTP serves HTTP/1.1 and HTTP/2 without TLS at a loopback port, which is the server's
// Addr, and closes the server with the test.
func HTTP(t testing.TB, handle http.HandlerFunc) *http.Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Addr: l.Addr().String(), Protocols: new(http.Protocols), Handler: handle}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(l) }()
	return server
}
