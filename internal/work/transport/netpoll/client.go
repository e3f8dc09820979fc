package netpoll

import (
	"context"
	"net"
	"time"

	"github.com/cloudwego/netpoll"
	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/flow"
)

// connectTimeout bounds the connecting of one connection.
const connectTimeout = 10 * time.Second

// client opens a flow.Runner's connections.
type client struct {
	work   *flow.Work
	routes []wire.Route
	conns  []connection
}

// Client implements load.Transport.
func (Transport) Client(setup contract.Setup) (load.Client, error) {
	routes, err := wire.Routes(setup)
	if err != nil {
		return nil, err
	}
	work, err := flow.NewWork(setup)
	if err != nil {
		return nil, err
	}
	n, err := configure(setup)
	if err != nil {
		return nil, err
	}
	l, err := load.NewForGoroutines(setup)
	if err != nil {
		return nil, err
	}
	work.Draw(l)
	c := &client{work: work, routes: routes, conns: make([]connection, len(routes))}
	runner := flow.NewRunner(l, work, func(i int) flow.Conn { return c.conns[i] })
	return wire.Connect(runner, c, contract.Ready{Options: effective(n)})
}

// Open implements wire.Opener.
func (c *client) Open() error { return wire.Each(len(c.conns), c.connect) }

// connect opens one connection and verifies one exchange on it.
func (c *client) connect(i int) error {
	route := c.routes[i]
	ctx, cancel := context.WithTimeout(context.Background(), connectTimeout)
	defer cancel()
	var source *netpoll.TCPAddr
	if route.Source.IsValid() {
		source = &netpoll.TCPAddr{TCPAddr: net.TCPAddr{IP: route.Source.AsSlice()}}
	}
	conn, err := netpoll.DialTCP(ctx, "tcp", source, &netpoll.TCPAddr{TCPAddr: *net.TCPAddrFromAddrPort(route.Peer.AddrPort)})
	if err != nil {
		return wire.ConnectFailure(i, len(c.routes), route, err)
	}
	c.conns[i] = connection{conn}
	if err := c.work.Verify(conn, i, c.routes); err != nil {
		return err
	}
	return conn.Reader().Release()
}

// Close implements wire.Opener. A connection may not be closed while an exchange
// reads from it, because its buffers go back to a pool; so it is shut down first.
func (c *client) Close() {
	for _, conn := range c.conns {
		if conn.TCPConnection != nil {
			_ = conn.Close() // it may be broken already
		}
	}
}

// Release implements wire.Releaser.
func (c *client) Release() {
	for _, conn := range c.conns {
		if conn.TCPConnection != nil {
			_ = conn.TCPConnection.Close() // nothing is left to write
		}
	}
}

// connection implements flow.Conn.
type connection struct{ *netpoll.TCPConnection }

// Write implements flow.Conn: it returns when the kernel has all of it.
func (c connection) Write(piece []byte) (int, error) {
	return writer{c.Writer()}.Write(piece)
}

// Receive implements flow.Conn: Skip waits for a whole answer and drops it where
// it lies.
func (c connection) Receive(missing int64) (int, error) {
	if err := c.Reader().Skip(int(missing)); err != nil {
		return 0, err
	}
	return int(missing), c.Reader().Release()
}

// Close makes every call on the connection fail.
func (c connection) Close() error { return unix.Shutdown(c.Fd(), unix.SHUT_RDWR) }
