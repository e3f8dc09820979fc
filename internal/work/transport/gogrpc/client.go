package gogrpc

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/rpc"
	"netdyno/internal/work/wire/tlswire"
)

type client struct {
	setup    contract.Setup
	x        *codec.Exchange
	options  load.Options // effective
	payload  payload
	chunkers *chunkers
	dial     []grpc.DialOption
	secure   credentials.TransportCredentials
	method   string
	classes  []class // of a load that mixes some
	follow   *follow // of a method that streams; else nil
	deadline time.Duration
	own      bool       // deadline is the load's, not the option's
	load     *load.Load // that is told how long stages took; nil for nobody
	dialer   *wire.Dialer
	conns    []*connection   // by route; closed when every exchange makes its own
	calls    context.Context // of every call: its metadata
	repeated atomic.Int64    // first exchanges that were tried again
	asked    wire.Asked
	resent   atomic.Int64    // requests that the library sent again, of connections that are settled
	ctx      context.Context // ends exchanges on connections that are not in conns
	cancel   context.CancelFunc
}

// Client implements load.Transport.
func (t Transport) Client(setup contract.Setup) (load.Client, error) {
	c, err := t.client(setup)
	if err != nil {
		return nil, err
	}
	l, err := load.NewForGoroutines(c.x.Setup(setup))
	if err != nil {
		return nil, err
	}
	if setup.Stages {
		c.load = l
		c.dialer.Tell(l)
	}
	apart := wire.Apart(setup)
	if apart {
		l.Paths(setup.Peers)
	}
	calls := func(connection, slot int) load.Call {
		s := &l.Slots(connection)[slot]
		if apart {
			s.AsksFor(connection % len(setup.Peers))
		}
		return c.call(connection, s)
	}
	return wire.Connect(load.NewSlotRunner(l, calls), c, c.x.Sizes(contract.Ready{Options: c.options}))
}

// client prepares the connections and opens none.
func (t Transport) client(setup contract.Setup) (*client, error) {
	c := &client{setup: setup}
	var err error
	if c.x, err = codec.New(setup, t.Codecs); err != nil {
		return nil, err
	}
	if c.options, err = effective(setup, c.x); err != nil {
		return nil, err
	}
	method, err := called(setup, c.options)
	if err != nil {
		return nil, err
	}
	c.method = method.String()
	c.options["method"] = c.method
	if c.dialer, err = wire.NewDialer(setup); err != nil {
		return nil, err
	}
	c.dialer.AllowReconnects()
	asked, err := askOf(setup, c.options)
	if err != nil {
		return nil, err
	}
	if method.Service == rpc.Service {
		asked.subtype = "raw"
	}
	var named []grpc.DialOption
	if named, c.secure, err = security(setup, c.options); err != nil {
		return nil, err
	}
	c.deadline = time.Duration(c.options.Int("deadline"))
	if limit := time.Duration(setup.Load.DeadlineNs); limit > 0 && (c.deadline == 0 || limit < c.deadline) {
		if c.deadline, c.own = limit, true; c.options.Text("mode") != "unary" || setup.Exchange.Stream != "" {
			return nil, load.Failure(contract.Unsupported, errors.New("load.deadline_ns needs mode=unary and no exchange.stream: a stream outlives its exchanges"))
		}
	}
	c.payload, c.chunkers = payloadOf(setup, c.x, c.options, asked), newChunkers(setup, c.options, c.x.DownBytes)
	if c.classes, err = c.classesOf(); err != nil {
		return nil, err
	}
	if c.follow, err = followOf(setup, c.options, asked); err != nil {
		return nil, err
	}
	if c.follow != nil {
		if c.follow.messages = asked.body; asked.body == nil {
			c.follow.messages = []content{*c.payload.outgoing(c.x.UpBytes).(*content)}
		}
	}
	c.dial = append(dialOptions(c.options, c.payload), named...)
	c.conns = make([]*connection, len(c.dialer.Routes()))
	c.calls = context.Background()
	if asked.headers != nil {
		c.calls = metadata.NewOutgoingContext(c.calls, asked.headers)
	}
	c.ctx, c.cancel = context.WithCancel(c.calls)
	return c, nil
}

// Open implements wire.Opener.
func (c *client) Open() error {
	err := wire.Each(len(c.conns), func(i int) error {
		conn, err := c.openConnection(i)
		if err != nil {
			return wire.ConnectFailure(i, len(c.conns), c.dialer.Routes()[i], err)
		}
		c.conns[i] = conn
		return c.verify(i, conn)
	})
	if err == nil && c.setup.Load.Fresh {
		c.closeAll() // the load's exchanges each make a connection of their own
	}
	return err
}

// verify makes one exchange on a new connection and compares what came. One that
// another's server refused to connect is made again: nothing was sent.
func (c *client) verify(i int, conn *connection) error {
	ctx, cancel := context.WithTimeout(c.ctx, verifyTimeout)
	defer cancel()
	tries := c.asked.Tries()
	repeats, err := wire.Repeat(c.setup.Load.MaxErrors, func() error {
		conn.refused.Store(nil)
		return tries.Tried(c.first(ctx, i, conn))
	}, func(error) bool {
		return conn.refused.Load() != nil && c.options.Text("verify") != wire.VerifyContent
	}, wire.Fails)
	c.repeated.Add(int64(repeats))
	return wire.Tried(repeats, err)
}

func (c *client) first(ctx context.Context, i int, conn *connection) error {
	k := c.caller(ctx, conn, nil)
	defer k.end()
	k.take(c.x.First(i))
	in, err := k.call()
	if err = c.ended(conn, err); err != nil {
		return c.explained(i, conn, err)
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

// Repeated implements wire.Repeater.
func (c *client) Repeated() int { return int(c.repeated.Load()) }

// Requests implements wire.Requester.
func (c *client) Requests() (first, again int64) {
	first, again = c.asked.Requests()
	again += c.resent.Load()
	for _, conn := range c.conns {
		if conn != nil && c.counts() {
			again += conn.heads.again()
		}
	}
	return first, again
}

// counts tells whether each exchange is a request of its own.
func (c *client) counts() bool {
	return c.options.Text("mode") != "stream" || c.setup.Exchange.Stream != ""
}

// ended accounts for a call on a connection.
func (c *client) ended(conn *connection, err error) error {
	if !c.counts() {
		return err
	}
	err = conn.heads.ended(err)
	if c.setup.Load.InFlight <= 1 || c.setup.Load.Fresh {
		c.resent.Add(conn.heads.settle())
	}
	return err
}

// explained is explain for a call that may not have gone out.
func (c *client) explained(i int, conn *connection, err error) error {
	why := c.explain(i, conn, failure(err))
	if errors.As(err, new(load.UnsentError)) {
		return load.UnsentError{Err: why}
	}
	return why
}

// explain returns the error of a connection whose first exchange failed.
func (c *client) explain(i int, conn *connection, err error) error {
	if refused := conn.refused.Load(); refused != nil && !errors.Is(*refused, wire.ErrLost) {
		return *refused
	}
	if kind := load.KindOf(err); kind != contract.Peer {
		return load.Failure(kind, fmt.Errorf("verify connection %d by %s: %s", i, c.method, load.TextOf(err)))
	}
	route := c.dialer.Routes()[i]
	return wire.ConnectFailure(i, len(c.conns), route, tlswire.Explain(c.setup, route, errors.New(load.TextOf(err))))
}

// call returns what makes the exchanges of a slot of connection i.
func (c *client) call(i int, slot *load.Slot) load.Call {
	if c.setup.Load.Fresh {
		return func() (int64, error) {
			conn, err := c.openConnection(i)
			if err != nil {
				return 0, load.UnsentError{Err: err}
			}
			defer func() { _ = conn.Close() }() // it has done its one exchange
			k := c.caller(c.ctx, conn, slot)
			defer k.end()
			k.take(slot.Draw())
			received, err := exchange(k)
			return received, c.ended(conn, err)
		}
	}
	// A context that all calls share would make them wait for its lock in every
	// exchange. Closing the connection ends them instead.
	conn := c.conns[i]
	k := c.caller(c.calls, conn, slot)
	return func() (int64, error) {
		k.take(slot.Draw())
		received, err := exchange(k)
		err = c.ended(conn, err)
		if err != nil && load.KindOf(err) == contract.Peer && c.dialer.Made(i) {
			conn.recover(c.ctx)
			err = load.PassingError{Err: err}
		}
		return received, err
	}
}

// Reconnects implements load.Reconnector.
func (c *client) Reconnects() int64 { return c.dialer.Reconnects() }

// Close implements wire.Opener. It closes the library's connections, not their
// sockets: when a socket closes, the library first tries to connect again.
func (c *client) Close() {
	c.cancel()
	within(closeTimeout, c.closeAll)
}

func (c *client) closeAll() {
	_ = wire.Each(len(c.conns), func(i int) error {
		if c.conns[i] != nil {
			_ = c.conns[i].Close() // a second close says only that it was the second
		}
		return nil
	})
}

// closeTimeout bounds how long an end waits for the library to let go of its
// connections. Ten thousand of them, or one reply that is being compressed, can
// take longer than a worker may take to end (CONTRACT.md, section Life). What is
// not closed by then ends with the process.
const closeTimeout = time.Second

// within runs f and waits for it, but no longer than d.
func within(d time.Duration, f func()) {
	done := make(chan struct{})
	go func() {
		f()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(d):
	}
}
