// Package loopback has servers for tests of every part.
package loopback

import (
	"net"
	"testing"
)

// Serve calls handle for each connection to a loopback port, in a goroutine of
// its own, and closes the connection when handle returns. It returns the port's
// address and stops listening with the test.
func Serve(t testing.TB, handle func(net.Conn)) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return // closed
			}
			go func() {
				defer func() { _ = conn.Close() }()
				handle(conn)
			}()
		}
	}()
	return l.Addr().String()
}
