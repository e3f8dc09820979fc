package nethttp

import (
	"context"
	"crypto/tls"
	"maps"
	"net"
	"net/http"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// verifying bounds how many first exchanges are under way at once.
const verifying = 128

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

// Client implements load.Client on http.Client. Unless the plan shares one,
// every connection has an http.Transport of its own, which makes that one
// TCP connection.
type Client struct {
	setup   contract.Setup
	plan    Plan
	content *codec.Exchange
	dialer  *wire.Dialer
	bodies  *bodies
	runner  *load.SlotRunner
	clients []*http.Client // by connection; one alone when shared
	urls    []string       // by connection
}

// NewClient connects and verifies one exchange on every connection.
func NewClient(setup contract.Setup, plan Plan) (*Client, error) {
	if err := wire.HTTPClientWork(setup, plan.OneAtATime); err != nil {
		return nil, err
	}
	content, err := codec.New(setup, plan.Codecs)
	if err != nil {
		return nil, err
	}
	l, err := load.NewForGoroutines(content.Setup(setup))
	if err != nil {
		return nil, err
	}
	c := &Client{setup: setup, plan: plan, content: content}
	if c.dialer, err = wire.NewDialer(setup); err != nil {
		return nil, err
	}
	if plan.OneAtATime && plan.Pool == PoolOwn {
		c.dialer.AllowReconnects()
	}
	c.bodies = newBodies(content.DownBytes, load.Options(setup.Options).Text("read"))
	c.runner = load.NewSlotRunner(l, func(connection, _ int) load.Call { return c.call(connection).do })
	if err := c.prepare(); err != nil {
		return nil, err
	}
	if err := c.verify(); err != nil {
		_ = c.Close() // the first failure is the one to report
		return nil, err
	}
	return c, nil
}

// prepare makes the http.Clients, which dial when they are first used.
func (c *Client) prepare() error {
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

func (c *Client) transport(encryption *tls.Config) *http.Transport {
	t := c.plan.Transport()
	t.TLSClientConfig = encryption.Clone()
	t.DisableKeepAlives = c.setup.Load.Fresh
	t.DisableCompression = true // a compressed reply would be other work
	return t
}

// trip returns what carries the requests of one connection.
func (c *Client) trip(t *http.Transport) http.RoundTripper {
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
func (c *Client) call(connection int) *call {
	method := http.MethodPost
	if c.content.UpBytes == 0 && !c.content.Structured() {
		method = http.MethodGet
	}
	return &call{
		http: c.clients[connection%len(c.clients)], content: c.content, bodies: c.bodies, url: c.urls[connection],
		method: method, header: []string{c.content.MediaType()}, accept: c.content.Accept,
		over: func() { c.dialer.Over(connection) },
	}
}

// Reconnects implements load.Reconnector.
func (c *Client) Reconnects() int64 { return c.dialer.Reconnects() }

// verify makes one exchange on each connection.
func (c *Client) verify() error {
	group, ctx := errgroup.WithContext(context.Background())
	var first *gate
	if c.plan.Pool == PoolShared && !c.setup.Load.Fresh {
		first = newGate(ctx, len(c.urls)) // so that no two take the same connection
	} else {
		group.SetLimit(verifying)
	}
	for i := range c.urls {
		group.Go(func() error {
			if err := c.verifyOne(first, i); err != nil {
				return wire.HTTPConnectFailure(c.setup, c.dialer, i, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	if err := c.dialer.OneEach(); err != nil {
		return err
	}
	return c.checkStreams()
}

func (c *Client) verifyOne(first *gate, i int) error {
	one := c.call(i)
	one.gate = first
	if load.Options(c.setup.Options).Text("verify") == wire.VerifyContent {
		one.accept = func(reply []byte) error { return wire.ExplainVerify(c.content.Verify(i, reply)) }
	}
	if _, err := one.do(); err != nil || c.plan.OneAtATime || c.plan.Pool != PoolOwn || c.setup.Load.Fresh {
		return err
	}
	return wire.Settle(func() error {
		_, err := c.call(i).do()
		return err
	})
}

// Ready implements load.Client.
func (c *Client) Ready() contract.Ready {
	options := maps.Clone(c.setup.Options)
	maps.Copy(options, c.plan.Options)
	n := len(c.urls)
	return c.content.Sizes(contract.Ready{Connections: n, Verified: n, Options: options})
}

// Load implements load.Client.
func (c *Client) Load() *load.Load { return c.runner.Load() }

// Run implements load.Client.
func (c *Client) Run() error { return c.runner.Run() }

// Close implements load.Client.
func (c *Client) Close() error {
	c.runner.Close()
	c.dialer.Close()
	for _, h := range c.clients {
		h.CloseIdleConnections() // what else net/http keeps for them
	}
	return nil
}
