package gonet

import (
	"net"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/flow"
)

// client opens a flow.Runner's connections.
type client struct {
	*plan
	dialer *wire.Dialer
	conns  []*connection
}

// Client implements load.Transport.
func (Transport) Client(setup contract.Setup) (load.Client, error) {
	p, err := newPlan(setup)
	if err != nil {
		return nil, err
	}
	dialer, err := wire.NewDialer(setup)
	if err != nil {
		return nil, err
	}
	l, err := load.NewForGoroutines(setup)
	if err != nil {
		return nil, err
	}
	c := &client{plan: p, dialer: dialer, conns: make([]*connection, len(dialer.Routes()))}
	runner := flow.NewRunner(l, p.work, func(i int) flow.Conn { return c.conns[i] })
	return wire.Connect(runner, c, contract.Ready{Options: setup.Options})
}

// Open implements wire.Opener.
func (c *client) Open() error {
	return wire.Each(len(c.conns), func(i int) error {
		conn, err := c.work.Dial(c.dialer, i)
		if err != nil {
			return err
		}
		c.conns[i], err = c.equip(conn, &c.work.Up, 0)
		return err
	})
}

// Close implements wire.Opener.
func (c *client) Close() { c.dialer.Close() }

// connection is a connection that sends and receives as the options say.
type connection struct {
	net.Conn
	read, write func([]byte) (int, error)
	buffer      []byte
}

// Read implements net.Conn.
func (c *connection) Read(into []byte) (int, error) { return c.read(into) }

// Write implements net.Conn.
func (c *connection) Write(from []byte) (int, error) { return c.write(from) }

// Receive implements flow.Conn.
func (c *connection) Receive(int64) (int, error) { return c.read(c.buffer) }
