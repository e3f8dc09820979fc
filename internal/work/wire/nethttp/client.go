package nethttp

import (
	"context"
	"crypto/tls"
	"fmt"
	"maps"
	"net"
	"net/http"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// Pool says who holds a client's connections. A level of option pool.
type Pool string

// The pools. PoolShared is for connections that carry one exchange at a time:
// of others, one http.Transport makes a single one to each server. PoolNone is
// for those that carry several.
const (
	PoolOwn    Pool = "own"    // an http.Transport for each connection
	PoolShared Pool = "shared" // one http.Transport for all
	PoolNone   Pool = "none"   // no http.Transport, but an http.ClientConn for each connection
)

// Plan is what a transport decides about its client.
type Plan struct {
	Codecs     []codec.Codec
	OneAtATime bool                   // a connection carries one exchange at a time
	Pool       Pool                   // of the connections
	Transport  func() *http.Transport // with its Protocols and sizes; dialling and TLS are added here
	Options    map[string]any         // effective, of the transport's own; the rest are in setup
}

// client opens connections by http.Client and makes exchanges on them. Unless
// the plan shares one, every connection has an http.Transport of its own, which
// makes that one TCP connection.
type client struct {
	setup   contract.Setup
	plan    Plan
	content *codec.Exchange
	dialer  *wire.Dialer
	bodies  *bodies
	clients []*http.Client // by connection; one alone when shared
	urls    []string       // by connection
}

// NewClient connects and verifies one exchange on every connection.
func NewClient(setup contract.Setup, plan Plan) (load.Client, error) {
	c, err := newClient(setup, plan)
	if err != nil {
		return nil, err
	}
	l, err := load.NewForGoroutines(c.content.Setup(setup))
	if err != nil {
		return nil, err
	}
	runner := load.NewSlotRunner(l, func(connection, _ int) load.Call { return c.call(connection).do })
	options := maps.Clone(setup.Options)
	maps.Copy(options, plan.Options)
	return wire.Connect(runner, c, c.content.Sizes(contract.Ready{Options: options}))
}

// newClient prepares the connections and opens none.
func newClient(setup contract.Setup, plan Plan) (*client, error) {
	if err := wire.HTTPClientWork(setup, plan.OneAtATime); err != nil {
		return nil, err
	}
	c := &client{setup: setup, plan: plan}
	var err error
	if c.content, err = codec.New(setup, plan.Codecs); err != nil {
		return nil, err
	}
	if c.dialer, err = wire.NewDialer(setup); err != nil {
		return nil, err
	}
	if plan.OneAtATime && plan.Pool == PoolOwn {
		c.dialer.AllowReconnects()
	}
	c.bodies = newBodies(c.content.DownBytes, load.Options(setup.Options).Text("read"))
	return c, c.prepare()
}

// prepare makes the http.Clients, which dial when they are first used.
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
		if c.plan.Pool != PoolShared {
			t := c.transport(encryption)
			t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return c.dialer.Dial(ctx, i) }
			c.clients = append(c.clients, httpClient(c.trip(t)))
		}
	}
	if c.plan.Pool == PoolShared {
		t, peers := c.transport(encryption), len(c.setup.Peers)
		t.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) { return c.dialer.Any(ctx, address) }
		t.MaxConnsPerHost = (len(c.urls) + peers - 1) / peers
		t.MaxIdleConnsPerHost = t.MaxConnsPerHost
		c.clients = []*http.Client{httpClient(t)}
	}
	return nil
}

func (c *client) transport(encryption *tls.Config) *http.Transport {
	t := c.plan.Transport()
	t.TLSClientConfig = encryption.Clone()
	t.DisableKeepAlives = c.setup.Load.Fresh
	t.DisableCompression = true // a compressed reply would be other work
	return t
}

// trip returns what carries the requests of one connection.
func (c *client) trip(t *http.Transport) http.RoundTripper {
	switch {
	case c.setup.Load.Fresh && !c.plan.OneAtATime:
		return &eachItsOwn{t} // a pool would let two exchanges in flight share one
	case c.plan.Pool == PoolNone:
		return &onlyOne{transport: t}
	}
	return t
}

// httpClient takes every reply as it is: a redirection is no exchange.
func httpClient(t http.RoundTripper) *http.Client {
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// call returns what makes the exchanges of a slot of a connection.
func (c *client) call(connection int) *call {
	method := http.MethodPost
	if c.content.UpBytes == 0 && !c.content.Structured() {
		method = http.MethodGet
	}
	return &call{
		ctx: context.Background(), http: c.clients[connection%len(c.clients)], content: c.content, bodies: c.bodies, url: c.urls[connection],
		method: method, header: []string{c.content.MediaType()}, accept: c.content.Accept,
		over: func() { c.dialer.Over(connection) },
	}
}

// Open implements wire.Opener.
func (c *client) Open() error {
	open := func() error {
		return wire.Each(len(c.urls), func(i int) error { return c.verify(context.Background(), i) })
	}
	if c.plan.Pool == PoolShared && !c.setup.Load.Fresh {
		open = c.openTogether
	}
	if err := open(); err != nil {
		return err
	}
	if err := c.dialer.OneEach(); err != nil {
		return err
	}
	if c.plan.OneAtATime || c.plan.Pool != PoolOwn {
		return nil
	}
	return CheckStreams(c.setup, fmt.Sprintf(", or do without the pool (opt.pool=%s)", PoolNone), func(ctx context.Context, i int) error {
		one := c.call(i)
		one.ctx = ctx
		_, err := one.do()
		return err
	})
}

// openTogether verifies the connections of a shared pool. All exchanges begin at
// once, or the pool would give two of them the same connection.
func (c *client) openTogether() error {
	group, ctx := errgroup.WithContext(context.Background())
	ctx = together(ctx, len(c.urls))
	for i := range c.urls {
		group.Go(func() error { return c.verify(ctx, i) })
	}
	return group.Wait()
}

// verify makes one exchange on a connection and checks the reply.
func (c *client) verify(ctx context.Context, i int) error {
	one := c.call(i)
	one.ctx = ctx
	if load.Options(c.setup.Options).Text("verify") == wire.VerifyContent {
		one.accept = func(reply []byte) error { return wire.ExplainVerify(c.content.Verify(i, reply)) }
	}
	_, err := one.do()
	if err == nil && !c.plan.OneAtATime && c.plan.Pool == PoolOwn && !c.setup.Load.Fresh {
		err = wire.Settle(func() error {
			_, err := c.call(i).do()
			return err
		})
	}
	if err != nil {
		return wire.HTTPConnectFailure(c.setup, c.dialer, i, err)
	}
	return nil
}

// Reconnects implements load.Reconnector.
func (c *client) Reconnects() int64 { return c.dialer.Reconnects() }

// Close implements wire.Opener.
func (c *client) Close() {
	c.dialer.Close()
	for _, h := range c.clients {
		h.CloseIdleConnections() // what else net/http keeps for them
	}
}
