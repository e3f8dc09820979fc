package wire

import (
	"errors"
	"net"
	"sync/atomic"
)

// line is what a dialler that may reconnect knows of a connection of the trial.
type line struct {
	last    atomic.Pointer[tracked] // TCP connection made for it; nil before the first
	refused atomic.Bool             // the attempt after that one failed
}

// tracked is a TCP connection that knows what came on it.
type tracked struct {
	net.Conn
	served  atomic.Bool // an exchange
	replied atomic.Bool // something since
	closed  atomic.Bool // by this end
}

// Read implements net.Conn.
func (c *tracked) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 && !c.replied.Load() {
		c.replied.Store(true)
	}
	return n, err
}

// Close implements net.Conn.
func (c *tracked) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

// AllowReconnects lets a connection be made again. In HTTP/1.1 either end may close
// one after a reply, and where CPU is scarce net/http drops one whose request it did
// not see written 50 ms after the reply had come. In HTTP/2 a server may ask for
// another one at any time (GOAWAY). Call it before the first Dial, and Over after
// each exchange.
func (d *Dialer) AllowReconnects() {
	d.mayReconnect, d.lines = true, make([]line, len(d.routes))
}

// MayReconnect tells whether AllowReconnects was called.
func (d *Dialer) MayReconnect() bool { return d.mayReconnect }

// mayDial reports whether connection i may be made now.
func (d *Dialer) mayDial(i int) bool {
	if !d.used[i].Swap(true) || d.fresh {
		return true
	}
	return d.mayReconnect
}

// track remembers the TCP connection that now is connection i.
func (d *Dialer) track(i int, c net.Conn) *tracked {
	t := &tracked{Conn: c}
	if before := d.lines[i].last.Swap(t); before != nil && !d.fresh {
		d.reconnects.Add(1)
	}
	d.lines[i].refused.Store(false)
	return t
}

func (d *Dialer) refused(i int) {
	if d.mayReconnect {
		d.lines[i].refused.Store(true)
	}
}

// Over says that an exchange on connection i has ended with a reply.
func (d *Dialer) Over(i int) {
	c := d.made(i)
	if c == nil {
		return
	}
	if !c.served.Load() { // slots of one connection need not take its cache line from each other
		c.served.Store(true)
	}
	if c.replied.Load() {
		c.replied.Store(false)
	}
}

// Made tells whether connection i was there when it was last made; if not, the next
// exchange makes it again.
func (d *Dialer) Made(i int) bool { return d.made(i) != nil }

// Idle tells whether connection i, which carries one exchange at a time, had carried
// an exchange before the last one, which failed with err before anything came of a
// reply: so its server closed it between the two (RFC 9112, section 9.3.1).
func (d *Dialer) Idle(i int, err error) bool {
	c := d.made(i)
	return c != nil && c.served.Load() && (!c.replied.Load() || errors.Is(err, ErrNoReply))
}

// Stands tells whether this end has connection i open.
func (d *Dialer) Stands(i int) bool {
	c := d.made(i)
	return c != nil && !c.closed.Load()
}

// Served tells whether the TCP connection that is now connection i has carried an
// exchange to its end.
func (d *Dialer) Served(i int) bool {
	c := d.made(i)
	return c != nil && c.served.Load()
}

func (d *Dialer) made(i int) *tracked {
	if !d.mayReconnect || d.lines[i].refused.Load() {
		return nil
	}
	return d.lines[i].last.Load()
}

// Reconnects returns how many connections were made again.
func (d *Dialer) Reconnects() int64 { return d.reconnects.Load() }

// pooled is a connection that Any made.
type pooled struct {
	net.Conn
	of     *Dialer
	to     *queue
	route  int
	broken atomic.Bool // it ended while something was read
	closed atomic.Bool
}

// Read implements net.Conn.
func (c *pooled) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err != nil {
		c.broken.Store(true)
	}
	return n, err
}

// Close implements net.Conn. The route of one that the library dropped while it stood may
// be dialled again.
func (c *pooled) Close() error {
	err := c.Conn.Close()
	switch {
	case c.closed.Swap(true):
	case c.broken.Load():
		c.of.lose(c.to)
	default:
		c.of.giveBack(c.to, c.route)
	}
	return err
}

func (d *Dialer) giveBack(q *queue, route int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used[route].Store(false)
	q.back = append(q.back, route)
}

func (d *Dialer) lose(q *queue) {
	d.mu.Lock()
	defer d.mu.Unlock()
	q.lost = true
}
