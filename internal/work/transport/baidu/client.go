package baidu

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/baidustd"
)

type client struct {
	setup           contract.Setup
	x               *codec.Exchange
	load            *load.Load
	options         load.Options // effective
	content         *content
	service, method []byte
	secure          *tls.Config // nil for plain text
	dialer          *wire.Dialer
	conns           []*connection   // by route; closed when every exchange makes its own
	shares          []*shared       // by route, where calls share a connection
	ctx             context.Context // ends what is being dialled
	cancel          context.CancelFunc
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
	c := &client{setup: setup}
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
	if c.secure, err = wire.ClientTLS(setup); err != nil {
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
		conn, err := c.open(c.ctx, i)
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

// share makes what lets calls share each connection.
func (c *client) share() {
	c.shares = make([]*shared, len(c.conns))
	for i, conn := range c.conns {
		if slots := len(c.load.Slots(i)); slots > 0 {
			c.shares[i] = c.shared(conn, slots)
		}
	}
}

// verify makes one exchange on a new connection and compares what came.
func (c *client) verify(i int, conn *connection) error {
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return c.explain(i, err)
	}
	f, err := c.alone(conn).call()
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

// explain says of a first exchange's failure what a connection's failure is.
func (c *client) explain(i int, err error) error {
	route := c.dialer.Routes()[i]
	if mismatch := wire.TLSMismatch(c.setup, route); mismatch != nil {
		return wire.ConnectFailure(i, len(c.conns), route, fmt.Errorf("%s: %w", load.TextOf(err), mismatch))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return wire.SilenceFailure(i, c.dialer.Routes(), 0, 0, patience)
	}
	if kind := load.KindOf(err); kind != contract.Peer {
		return load.Failure(kind, fmt.Errorf("verify connection %d by %s: %s", i, c.options.Text("method"), load.TextOf(err)))
	}
	return wire.ConnectFailure(i, len(c.conns), route, errors.New(load.TextOf(err)))
}

// call gives a slot its way of making exchanges.
func (c *client) call(i, slot int) load.Call {
	switch {
	case c.setup.Load.Fresh:
		return func() (int64, error) {
			conn, err := c.open(c.ctx, i)
			if err != nil {
				return 0, err
			}
			defer func() { _ = conn.Close() }() // it has done its one exchange
			return c.alone(conn).exchange()
		}
	case c.shares != nil:
		s := c.shares[i]
		return func() (int64, error) { return s.exchange(slot) }
	}
	return c.alone(c.conns[i]).exchange
}

// judge takes a reply as an application does.
func (c *client) judge(f baidustd.Frame) (int64, error) {
	received, err := c.content.accept(f)
	if err != nil {
		return 0, invalid(err)
	}
	return received, nil
}

func invalid(err error) error { return load.Failure(contract.Invalid, err) }

// Close implements wire.Opener.
func (c *client) Close() {
	c.cancel()
	c.dialer.Close() // each connection's calls end with it
}
