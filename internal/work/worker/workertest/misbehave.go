package workertest

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// MisbehavingHTTP serves right replies of 100 bytes over HTTP/1.1 and, from the fourth
// request of a connection on, what wrong writes; it hangs up after that. It returns its
// address and stops with the test.
func MisbehavingHTTP(t testing.TB, wrong func(net.Conn)) (address string) {
	t.Helper()
	return Serve(t, func(conn net.Conn) {
		right := HTTPReply(100, 100)
		for r, n := bufio.NewReader(conn), 0; ; n++ {
			if _, err := http.ReadRequest(r); err != nil {
				return
			}
			if n >= 3 {
				wrong(conn)
				return
			}
			right(conn)
		}
	})
}

// HTTPReply writes a reply that announces so many bytes and has others.
func HTTPReply(announced, sent int) func(net.Conn) {
	return func(c net.Conn) {
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", announced, strings.Repeat("x", sent))
	}
}
