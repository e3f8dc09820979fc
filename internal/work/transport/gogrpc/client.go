package gogrpc

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// dialing bounds how many connections are being made, or closed, at once.
const dialing = 128

type client struct {
	setup    contract.Setup
	x        *codec.Exchange
	options  load.Options // effective
	payload  payload
	chunkers *chunkers
	dial     []grpc.DialOption
	method   string
	dialer   *wire.Dialer
	conns    []*connection // by route; closed when every exchange makes its own
	runner   *load.SlotRunner
	ctx      context.Context // ends what Close cannot reach by a connection
	cancel   context.CancelFunc
}

// Client implements load.Transport.
func (t Transport) Client(setup contract.Setup) (load.Client, error) {
	c := &client{setup: setup}
	var err error
	if c.x, err = codec.New(setup, t.Codecs); err != nil {
		return nil, err
	}
	if c.options, err = effective(setup, c.x); err != nil {
		return nil, err
	}
	c.method = called(setup, c.options)
	if _, _, err = splitMethod(c.method); err != nil {
		return nil, err
	}
	c.options["method"] = c.method
	if c.dialer, err = wire.NewDialer(setup); err != nil {
		return nil, err
	}
	secure, err := clientCredentials(setup)
	if err != nil {
		return nil, err
	}
	l, err := load.NewForGoroutines(c.x.Setup(setup))
	if err != nil {
		return nil, err
	}
	c.payload, c.chunkers = payloadOf(setup, c.x, c.options), newChunkers(setup, c.options, c.x.DownBytes)
	c.dial = append(dialOptions(c.options, c.payload), grpc.WithTransportCredentials(secure))
	c.runner = load.NewSlotRunner(l, c.call)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if err := c.connect(); err != nil {
		_ = c.Close() // the first failure is the one to report
		return nil, err
	}
	return c, nil
}

func clientCredentials(setup contract.Setup) (credentials.TransportCredentials, error) {
	config, err := wire.ClientTLS(setup)
	if err != nil || config == nil {
		return insecure.NewCredentials(), err
	}
	return credentials.NewTLS(config), nil
}

// connect opens every connection and verifies one exchange on each.
func (c *client) connect() error {
	c.conns = make([]*connection, len(c.dialer.Routes()))
	var group errgroup.Group
	group.SetLimit(dialing)
	for i, r := range c.dialer.Routes() {
		group.Go(func() error {
			conn, err := open(c.dialer, i, c.dial)
			if err != nil {
				return wire.ConnectFailure(i, len(c.conns), r, err)
			}
			c.conns[i] = conn
			return c.verify(i, conn)
		})
	}
	if err := group.Wait(); err != nil || !c.setup.Load.Fresh {
		return err
	}
	c.closeAll() // the load's exchanges each make a connection of their own
	return nil
}

// verify makes one exchange on a new connection and compares what came.
func (c *client) verify(i int, conn *connection) error {
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	k := c.caller(ctx, conn)
	defer k.end()
	in, err := k.call()
	if err != nil {
		return c.explain(i, conn, failure(err))
	}
	defer k.release(in)
	if c.options.Text("verify") == wire.VerifyContent {
		return k.verify(i, in)
	}
	if _, err := k.accept(in); err != nil {
		return load.Failure(contract.Invalid, fmt.Errorf("verify connection %d: %w", i, err))
	}
	return nil
}

// explain says of a first exchange's failure what a connection's failure is.
func (c *client) explain(i int, conn *connection, err error) error {
	if refused := conn.refused.Load(); refused != nil && !errors.Is(*refused, wire.ErrLost) {
		return *refused
	}
	if kind := load.KindOf(err); kind != contract.Peer {
		return load.Failure(kind, fmt.Errorf("verify connection %d by %s: %s", i, c.method, textOf(err)))
	}
	route := c.dialer.Routes()[i]
	return wire.ConnectFailure(i, len(c.conns), route, wire.ExplainTLS(c.setup, route, errors.New(textOf(err))))
}

// Ready implements load.Client.
func (c *client) Ready() contract.Ready {
	return c.x.Sizes(contract.Ready{Connections: len(c.conns), Verified: len(c.conns), Options: c.options})
}

// Load implements load.Client.
func (c *client) Load() *load.Load { return c.runner.Load() }

// Run implements load.Client.
func (c *client) Run() error { return c.runner.Run() }

// call gives a slot its way of making exchanges.
func (c *client) call(i, _ int) load.Call {
	if c.setup.Load.Fresh {
		return func() (int64, error) {
			conn, err := open(c.dialer, i, c.dial)
			if err != nil {
				return 0, err
			}
			defer func() { _ = conn.Close() }() // it has done its one exchange
			k := c.caller(c.ctx, conn)
			defer k.end()
			return exchange(k)
		}
	}
	// Calls have no context of their own to end by: they would meet at its lock
	// in every exchange. Closing the connection ends them.
	k := c.caller(context.Background(), c.conns[i])
	return func() (int64, error) { return exchange(k) }
}

// Close implements load.Client. It leaves the sockets to the library: of one
// that closes under it, it would first try to make another.
func (c *client) Close() error {
	c.runner.Close()
	c.cancel()
	within(farewell, c.closeAll)
	return nil
}

func (c *client) closeAll() {
	var group errgroup.Group
	group.SetLimit(dialing)
	for _, conn := range c.conns {
		if conn != nil {
			group.Go(conn.Close)
		}
	}
	_ = group.Wait() // a second close says only that it was the second
}
