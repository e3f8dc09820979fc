package wire

import (
	"net"
	"sync"
)

// connections are the open connections of one end, of TCP or through Unix sockets. Any goroutine may use
// them; the zero value is empty.
type connections struct {
	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

// connection is a *net.TCPConn that is counted until it is closed.
type connection struct {
	*net.TCPConn
	of *connections
}

// enter adds a connection. It returns false, and closes the connection, when close
// was called before.
func (o *connections) enter(inner net.Conn) (net.Conn, bool) {
	var c net.Conn
	switch inner := inner.(type) {
	case *net.TCPConn:
		c = &connection{inner, o}
	case *net.UnixConn:
		c = &through{inner, o}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		_ = inner.Close() // nothing was sent on it
		return nil, false
	}
	if o.open == nil {
		o.open = map[net.Conn]struct{}{}
	}
	o.open[inner] = struct{}{}
	return c, true
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.leave(c.TCPConn)
	return c.TCPConn.Close()
}

// through is a connection through a Unix socket that is counted until it is closed.
type through struct {
	*net.UnixConn
	of *connections
}

// Close implements net.Conn.
func (c *through) Close() error {
	c.of.leave(c.UnixConn)
	return c.UnixConn.Close()
}

func (o *connections) leave(inner net.Conn) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, inner)
}

// Open returns the number of connections that are open.
func (o *connections) Open() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return int64(len(o.open))
}

// close closes every connection, and every one that enters later.
func (o *connections) close() {
	o.mu.Lock()
	o.closed = true
	open := o.open
	o.open = nil
	o.mu.Unlock()
	for c := range open {
		_ = c.Close() // reads and writes on it return
	}
}
