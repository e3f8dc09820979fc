package nethttp

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"

	"netdyno/internal/work/load"
)

// errExcess says why a connection cannot carry another exchange.
var errExcess = &load.ReasonError{
	Err:  errors.New("bytes follow a reply that has no body (204 or 304)"),
	Text: "bytes after a reply without a body",
}

// watched returns what dials connections of HTTP/1.1 that end where bytes follow a reply
// without a body. net/http would print them, or take them for the next reply.
func watched(dial func(context.Context) (net.Conn, error)) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return &bodiless{Conn: conn}, nil
	}
}

// bodiless is a connection that ends after a reply without a body (RFC 9112, section 6.3)
// that bytes follow. One goroutine may read while another writes.
type bodiless struct {
	net.Conn
	asked  atomic.Bool // something was written since something was read
	excess atomic.Bool

	// Of the reader.
	head []byte // of the reply, up to its end; nil of one that may have a body
	over bool   // the reply is such a one, and whole
}

// Write implements net.Conn. Nothing is written after excess bytes have come, so that
// the library may send the request on another connection.
func (c *bodiless) Write(b []byte) (int, error) {
	if c.excess.Load() {
		return 0, errExcess
	}
	c.asked.Store(true)
	return c.Conn.Write(b)
}

// Read implements net.Conn. The bytes that do not belong to a reply are left out, and
// the next call fails.
func (c *bodiless) Read(b []byte) (int, error) {
	if c.excess.Load() {
		return 0, errExcess
	}
	n, err := c.Conn.Read(b)
	if n == 0 {
		return n, err
	}
	first := c.asked.Load() && c.asked.Swap(false)
	switch {
	case c.over && !(first && begins(b[:n])):
		c.excess.Store(true)
		return 0, errExcess
	case first:
		c.over, c.head = false, nil
		if !hasNoBody(b[:n]) {
			return n, err
		}
	case c.head == nil:
		return n, err
	}
	c.head = append(c.head, b[:n]...)
	end := bytes.Index(c.head, []byte("\r\n\r\n"))
	if end < 0 {
		if len(c.head) > http.DefaultMaxHeaderBytes { // the library refuses it
			c.head = nil
		}
		return n, err
	}
	stray := len(c.head) - end - len("\r\n\r\n")
	c.over, c.head = true, nil
	c.excess.Store(stray > 0)
	return n - stray, err
}

// begins tells whether a reply may begin so.
func begins(b []byte) bool {
	const version = "HTTP/"
	return bytes.HasPrefix(b, []byte(version)[:min(len(version), len(b))])
}

// hasNoBody tells whether a reply that begins so has no body, whatever its head says.
func hasNoBody(b []byte) bool {
	return bytes.HasPrefix(b, []byte("HTTP/1.1 204")) || bytes.HasPrefix(b, []byte("HTTP/1.1 304"))
}
