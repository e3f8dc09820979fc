package gofasthttp

import (
	"context"
	"maps"
	"net"
	"time"

	"github.com/valyala/fasthttp"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// idle is how long a connection may lie still: an idle connection of a trial
// stays, which fasthttp would close after 10 s.
const idle = 24 * time.Hour

type client struct {
	setup   contract.Setup
	content *codec.Exchange
	dialer  *wire.Dialer
	buffers buffers
	hosts   []*fasthttp.HostClient // by connection
	urls    []string               // by connection
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
	runner := load.NewSlotRunner(l, func(connection, _ int) load.Call { return c.call(connection).do })
	options := maps.Clone(setup.Options)
	maps.Copy(options, c.buffers.effective())
	return wire.Connect(runner, c, c.content.Sizes(contract.Ready{Options: options}))
}

// client prepares the connections and opens none.
func (t Transport) client(setup contract.Setup) (*client, error) {
	if err := wire.HTTPClientWork(setup, true); err != nil {
		return nil, err
	}
	c := &client{setup: setup, buffers: buffersOf(setup)}
	var err error
	if c.content, err = codec.New(setup, t.Codecs); err != nil {
		return nil, err
	}
	if c.dialer, err = wire.NewDialer(setup); err != nil {
		return nil, err
	}
	c.dialer.AllowReconnects()
	return c, c.prepare()
}

// prepare makes a HostClient for each connection, which dials when it is first
// used.
func (c *client) prepare() error {
	encryption, err := wire.ClientTLS(c.setup)
	if err != nil {
		return err
	}
	for i, route := range c.dialer.Routes() {
		target, err := wire.HTTPTarget(c.setup, route.Peer.String())
		if err != nil {
			return err
		}
		c.urls = append(c.urls, target)
		c.hosts = append(c.hosts, &fasthttp.HostClient{
			Addr: route.Peer.String(),
			Dial: func(string) (net.Conn, error) { return c.dialer.Dial(context.Background(), i) },
			// An exchange that failed has failed, whatever its method.
			MaxConns: 1, MaxIdemponentCallAttempts: 1, MaxIdleConnDuration: idle,
			ReadBufferSize: c.buffers.read, WriteBufferSize: c.buffers.write, MaxResponseBodySize: bound(c.content.DownBytes),
			IsTLS: encryption != nil, TLSConfig: encryption,
		})
	}
	return nil
}

// Open implements wire.Opener.
func (c *client) Open() error {
	err := wire.Each(len(c.hosts), func(i int) error {
		if err := c.verify(i); err != nil {
			return wire.HTTPConnectFailure(c.setup, c.dialer, i, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.dialer.OneEach()
}

// verify makes one exchange on a connection and checks the reply.
func (c *client) verify(i int) error {
	one := c.call(i)
	if load.Options(c.setup.Options).Text("verify") == wire.VerifyContent {
		one.accept = func(reply []byte) error { return wire.ExplainVerify(c.content.Verify(i, reply)) }
	}
	_, err := one.do()
	return err
}

// call returns what makes the exchanges of a connection's slot.
func (c *client) call(connection int) *call {
	method := fasthttp.MethodPost
	if c.content.UpBytes == 0 && !c.content.Structured() {
		method = fasthttp.MethodGet
	}
	return &call{
		host: c.hosts[connection], content: c.content, url: c.urls[connection], method: method,
		mediaType: c.content.MediaType(), fresh: c.setup.Load.Fresh, accept: c.content.Accept,
		over: func() { c.dialer.Over(connection) },
	}
}

// Reconnects implements load.Reconnector.
func (c *client) Reconnects() int64 { return c.dialer.Reconnects() }

// Close implements wire.Opener.
func (c *client) Close() { c.dialer.Close() }
