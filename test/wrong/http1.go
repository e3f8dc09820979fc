// Package wrong lists what servers do wrong, for the tests of every client of a wire.
package wrong

import (
	"fmt"
	"io"
	"net"
	"strings"

	"netdyno/internal/contract"
)

// Exchange is what comes in place of a reply of 100 bytes, and as what it counts: of no kind
// where the request goes out again on another connection.
type Exchange struct {
	Does func(net.Conn)
	Kind contract.ErrorKind
}

func says(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, text) } // an end shows at the client
}

func reply(announced, sent int) func(net.Conn) {
	return says(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", announced, strings.Repeat("x", sent)))
}

// HTTP1 is of HTTP/1.1.
var HTTP1 = map[string]Exchange{
	"shorter":   {reply(99, 99), contract.Invalid},
	"longer":    {reply(101, 101), contract.Invalid},
	"endless":   {says("HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat("x", 1<<20)), contract.Invalid},
	"status":    {says("HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n"), contract.Invalid},
	"truncated": {reply(100, 50), contract.Peer},
	// The connection was idle, and the request did not come to be read.
	"reset":   {func(c net.Conn) { _ = c.(*net.TCPConn).SetLinger(0) }, ""},
	"silence": {func(net.Conn) {}, ""},
}
