package workertest

import (
	"net"
	"testing"

	"netdyno/test/loopback"
)

// Serve is loopback.Serve.
func Serve(t testing.TB, handle func(net.Conn)) (address string) {
	t.Helper()
	return loopback.Serve(t, handle)
}
