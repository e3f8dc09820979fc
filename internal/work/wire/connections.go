package wire

import (
	"net"
	"sync"
)

// connections are the open TCP connections of one end. Any goroutine may use
// them; the zero value is empty.
type connections struct {
	mu     sync.Mutex
	open   map[*connection]struct{}
	closed bool
}

// connection is a *net.TCPConn that is counted until it is closed.
type connection struct {
	*net.TCPConn
	of *connections
}

// enter adds a connection. It returns false, and closes the connection, when close
// was called before.
func (o *connections) enter(inner *net.TCPConn) (*connection, bool) {
	c := &connection{inner, o}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		_ = inner.Close() // nothing was sent on it
		return nil, false
	}
	if o.open == nil {
		o.open = map[*connection]struct{}{}
	}
	o.open[c] = struct{}{}
	return c, true
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	delete(c.of.open, c)
	c.of.mu.Unlock()
	return c.TCPConn.Close()
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
		_ = c.TCPConn.Close() // reads and writes on it return
	}
}
