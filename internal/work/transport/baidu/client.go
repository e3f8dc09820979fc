package baidu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/tlswire"
)

type client struct {
	connector
	caller
	x      *codec.Exchange
	load   *load.Load
	conns  []*connection   // by route; closed when every exchange makes its own
	shares []*shared       // by route, where calls share a connection
	ctx    context.Context // ends what is being dialled
	cancel context.CancelFunc
}

// Client implements load.Transport.
func (Transport) Client(setup contract.Setup) (load.Client, error) {
	c, err := newClient(setup)
	if err != nil {
		return nil, err
	}
	return wire.Connect(load.NewSlotRunner(c.load, c.call), c, c.x.Sizes(contract.Ready{Options: c.options}))
}

// newClient prepares the connections and opens none.
func newClient(setup contract.Setup) (*client, error) {
	c := &client{connector: connector{setup: setup}}
	var err error
	if c.x, err = codec.New(setup, codecs); err != nil {
		return nil, err
	}
	if c.options, err = effective(setup, c.x); err != nil {
		return nil, err
	}
	method, err := called(setup, c.options)
	if err != nil {
		return nil, err
	}
	c.service, c.method, c.options["method"] = []byte(method.Service), []byte(method.Name), method.String()
	if c.secure, err = tlswire.ClientConfig(setup); err != nil {
		return nil, err
	}
	if c.dialer, err = wire.NewDialer(setup); err != nil {
		return nil, err
	}
	if c.load, err = load.NewForGoroutines(c.x.Setup(setup)); err != nil {
		return nil, err
	}
	c.content = contentOf(setup, c.x, c.options)
	c.conns = make([]*connection, len(c.dialer.Routes()))
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// Open implements wire.Opener.
func (c *client) Open() error {
	err := wire.Each(len(c.conns), func(i int) error {
		conn, err := c.openConnection(c.ctx, i)
		if err != nil {
			return err
		}
		c.conns[i] = conn
		if err := c.verify(i, conn); err != nil || !c.setup.Load.Fresh {
			return err
		}
		return conn.Close() // the load's exchanges each make a connection of their own
	})
	if err == nil && c.options.Text("connection") == connectionSingle && !c.setup.Load.Fresh {
		c.share()
	}
	return err
}

// share lets calls share each connection.
func (c *client) share() {
	c.shares = make([]*shared, len(c.conns))
	for i, conn := range c.conns {
		if slots := len(c.load.Slots(i)); slots > 0 {
			c.shares[i] = newShared(&c.caller, conn, slots)
		}
	}
}

// verify makes one exchange on a new connection and checks the reply.
func (c *client) verify(i int, conn *connection) error {
	if err := conn.SetDeadline(time.Now().Add(verifyTimeout)); err != nil {
		return c.explain(i, err)
	}
	f, err := newExclusive(&c.caller, conn).call()
	if err != nil {
		return c.explain(i, err)
	}
	if c.options.Text("verify") == wire.VerifyContent {
		err = c.content.verify(i, f)
	} else if _, err = c.content.accept(f); err != nil {
		err = load.Failure(contract.Invalid, fmt.Errorf("verify connection %d: %w", i, err))
	}
	if err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}

// explain returns the error of a connection whose first exchange failed.
func (c *client) explain(i int, err error) error {
	route := c.dialer.Routes()[i]
	if mismatch := tlswire.Mismatch(c.setup, route); mismatch != nil {
		return wire.ConnectFailure(i, len(c.conns), route, fmt.Errorf("%s: %w", load.TextOf(err), mismatch))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return wire.SilenceFailure(i, c.dialer.Routes(), 0, 0, verifyTimeout)
	}
	if kind := load.KindOf(err); kind != contract.Peer {
		return load.Failure(kind, fmt.Errorf("verify connection %d by %s: %s", i, c.options.Text("method"), load.TextOf(err)))
	}
	return wire.ConnectFailure(i, len(c.conns), route, errors.New(load.TextOf(err)))
}

// call returns what makes a slot's exchanges.
func (c *client) call(i, slot int) load.Call {
	switch {
	case c.setup.Load.Fresh:
		return func() (int64, error) {
			conn, err := c.openConnection(c.ctx, i)
			if err != nil {
				return 0, err
			}
			defer func() { _ = conn.Close() }() // it has done its one exchange
			return newExclusive(&c.caller, conn).exchange()
		}
	case c.shares != nil:
		s := c.shares[i]
		return func() (int64, error) { return s.exchange(slot) }
	}
	return newExclusive(&c.caller, c.conns[i]).exchange
}

// Close implements wire.Opener.
func (c *client) Close() {
	c.cancel()
	c.dialer.Close() // each connection's calls end with it
}
