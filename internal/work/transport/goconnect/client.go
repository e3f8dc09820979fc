package goconnect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/httpwire"
	"netdyno/internal/work/wire/nethttp"
	"netdyno/internal/work/wire/tlswire"
)

// verifyTimeout bounds the first exchange of a connection, its connecting included.
const verifyTimeout = 20 * time.Second

type client struct {
	caller
	httpwire.Asked
	dialer  *wire.Dialer
	lines   []line
	pooled  bool               // HTTP/2 connections that are kept
	renewed []*nethttp.Renewed // by connection, where it is one of these
}

// Client implements load.Transport.
func (t Transport) Client(setup contract.Setup) (load.Client, error) {
	c, err := t.client(setup)
	if err != nil {
		return nil, err
	}
	l, err := load.NewForGoroutines(c.content.Setup(setup))
	if err != nil {
		return nil, err
	}
	calls := func(connection, slot int) load.Call { return c.call(connection, &l.Slots(connection)[slot]) }
	return wire.Connect(load.NewSlotRunner(l, calls), c, c.content.Sizes(contract.Ready{Options: c.settings.effective}))
}

// client prepares the connections and opens none.
func (t Transport) client(setup contract.Setup) (*client, error) {
	if err := t.admit(setup); err != nil {
		return nil, err
	}
	c := &client{caller: caller{setup: setup}}
	var err error
	if c.settings, err = settingsOf(t.GRPC, setup); err != nil {
		return nil, err
	}
	if c.procedure, err = procedureOf(setup); err != nil {
		return nil, err
	}
	if c.content, err = codec.New(setup, t.Codecs); err != nil {
		return nil, err
	}
	if c.dialer, err = wire.NewDialer(setup); err != nil {
		return nil, err
	}
	c.pooled = t.GRPC && !setup.Load.Fresh
	c.dialer.AllowReconnects()
	return c, c.prepare(t)
}

// prepare makes the http.Clients, which dial when they are first used.
func (c *client) prepare(t Transport) error {
	encryption, err := tlswire.ClientConfig(c.setup)
	if err != nil {
		return err
	}
	scheme := "http"
	if encryption != nil {
		scheme = "https"
	}
	for i, route := range c.dialer.Routes() {
		dial := func(ctx context.Context) (net.Conn, error) { return c.dialer.Dial(ctx, i) }
		if c.pooled {
			r := nethttp.NewRenewed(c.dialer, i)
			c.renewed, dial = append(c.renewed, r), r.Dial
		}
		transport := &http.Transport{
			DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
			TLSClientConfig:   encryption.Clone(),
			Protocols:         t.protocols(),
			HTTP2:             c.settings.http2,
			DisableKeepAlives: c.setup.Load.Fresh,
		}
		if !t.GRPC {
			nethttp.BuffersOf(c.setup).Apply(transport)
		}
		c.lines = append(c.lines, line{http: &http.Client{Transport: transport}, base: fmt.Sprintf("%s://%s", scheme, route.Peer.Host())})
	}
	return nil
}

// Open implements wire.Opener.
func (c *client) Open() error {
	if err := wire.Each(len(c.lines), c.verify); err != nil {
		return err
	}
	return nethttp.Checking(c.renewed, func() error {
		return nethttp.CheckStreams(c.setup, "", func(ctx context.Context, i int) error {
			first, x := c.first(i)
			_, err := first(ctx, x.Accept)
			return err
		})
	})
}

// first returns what makes an exchange before ready on connection i, and what it carries.
func (c *client) first(i int) (exchange, *codec.Exchange) {
	x := c.content.Own()
	x.TakeFirst(i)
	sends, exchange := c.Sends(), c.exchange(c.lines[i], x)
	return func(ctx context.Context, judge func([]byte) error) (int64, error) {
		received, err := exchange(sends.Trace(ctx, nil), judge)
		err = sends.Ended(err)
		c.First(err)
		return received, err
	}, x
}

// verify connects and checks the reply of one exchange. The error names the
// connection.
func (c *client) verify(i int) error {
	ctx, cancel := context.WithTimeout(context.Background(), verifyTimeout)
	defer cancel()
	first, x := c.first(i)
	_, err := first(ctx, func(reply []byte) error { return x.Verify(i, reply) })
	if err == nil && c.pooled {
		c.dialer.Over(i)
		err = c.renewed[i].Settle(func() error {
			again, x := c.first(i)
			_, err := again(ctx, x.Accept)
			return err
		})
	}
	if err == nil {
		return nil
	}
	var cause *contract.Error
	if errors.As(err, &cause) {
		return cause // of the dialling, or of the content
	}
	kind, route := load.KindOf(failure(err)), c.dialer.Routes()[i]
	if mismatch := tlswire.Mismatch(c.setup, route); mismatch != nil {
		err = mismatch
	}
	explained := wire.ConnectFailure(i, len(c.lines), route, err)
	if kind != contract.Peer {
		return load.Failure(kind, errors.New(load.TextOf(explained)))
	}
	return explained
}

// call returns what makes one slot's exchanges.
func (c *client) call(connection int, slot *load.Slot) load.Call {
	sends, x := c.Sends(), c.content.Own()
	exchange, ctx, accept := c.exchange(c.lines[connection], x), sends.Trace(context.Background(), nil), x.Accept
	var received int64
	try := func() (err error) {
		received, err = exchange(ctx, accept)
		return err
	}
	return func() (int64, error) {
		x.Take(slot.Draw())
		err := try()
		if errors.Is(err, wire.ErrLost) && c.dialer.Made(connection) { // another call is making the connection
			err = wire.Settle(try)
		}
		if err == nil {
			_ = sends.Ended(nil)
			c.dialer.Over(connection)
			return received, nil
		}
		if err = failure(err); load.KindOf(err) == contract.Peer && c.dialer.Made(connection) {
			err = load.PassingError{Err: err}
		}
		return 0, sends.Ended(err)
	}
}

// Reconnects implements load.Reconnector.
func (c *client) Reconnects() int64 { return c.dialer.Reconnects() }

// Close implements wire.Opener.
func (c *client) Close() { c.dialer.Close() }
