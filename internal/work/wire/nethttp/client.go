package nethttp

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/httpwire"
)

// Pool says what holds a client's connections: the levels of option pool.
type Pool string

// The pools. PoolShared is for connections that carry one exchange at a time,
// PoolNone for those that carry several: one http.Transport makes only one HTTP/2
// connection to each server.
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
	Options    map[string]any         // the transport's own effective ones; the rest are in setup
}

// client carries requests by http.Client. Unless the plan shares one, every
// connection has an http.Transport of its own, which makes that one TCP
// connection.
type client struct {
	*httpwire.Client
	*Library
	plan    Plan
	renewed []*Renewed // by connection, where an http.Transport of HTTP/2 dials it
}

// NewClient connects and verifies one exchange on every connection.
func NewClient(setup contract.Setup, plan Plan) (load.Client, error) {
	c, err := newClient(setup, plan)
	if err != nil {
		return nil, err
	}
	return c.Connect(c, plan.Options)
}

// newClient prepares the connections and opens none.
func newClient(setup contract.Setup, plan Plan) (*client, error) {
	inner, err := httpwire.NewClient(setup, plan.Codecs, plan.OneAtATime)
	if err != nil {
		return nil, err
	}
	if plan.Pool != PoolShared {
		inner.Dialer.AllowReconnects()
	}
	c := &client{Client: inner, Library: NewLibrary(inner), plan: plan}
	return c, c.prepare()
}

// prepare makes the http.Clients, which dial when they are first used.
func (c *client) prepare() error {
	encryption, err := wire.TrustingTLS(c.Setup)
	if err != nil {
		return err
	}
	connections := len(c.Dialer.Routes())
	for i := range connections {
		if c.plan.Pool != PoolShared {
			t := c.transport(encryption)
			if err := throughProxy(c.Setup, t, c.Dialer.Routes()[i].Peer.Host()); err != nil {
				return err
			}
			dial := func(ctx context.Context) (net.Conn, error) { return c.Dialer.Dial(ctx, i) }
			if c.pooled() {
				r := NewRenewed(c.Dialer, i)
				c.renewed, dial = append(c.renewed, r), r.Dial
			}
			if c.plan.OneAtATime && encryption == nil && !c.Setup.Load.Fresh {
				dial = watched(dial)
			}
			t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }
			c.Carry(c.trip(t))
		}
	}
	if c.plan.Pool == PoolShared {
		if proxied, _ := c.Setup.Options[httpwire.ProxiedOption].(string); proxied != "" {
			return load.Failure(contract.Unsupported, fmt.Errorf("option %s needs pool=%s", httpwire.ProxiedOption, PoolOwn))
		}
		t, peers := c.transport(encryption), len(c.Setup.Peers)
		t.DialContext = func(ctx context.Context, _, address string) (net.Conn, error) { return c.Dialer.Any(ctx, address) }
		t.MaxConnsPerHost = (connections + peers - 1) / peers
		t.MaxIdleConnsPerHost = t.MaxConnsPerHost
		c.Carry(t)
	}
	return nil
}

func (c *client) transport(encryption *tls.Config) *http.Transport {
	t := c.plan.Transport()
	t.TLSClientConfig = encryption.Clone()
	t.DisableKeepAlives = c.Setup.Load.Fresh
	t.DisableCompression = true // compressing replies would be other work
	return t
}

// trip returns what carries the requests of one connection.
func (c *client) trip(t *http.Transport) http.RoundTripper {
	switch {
	case c.Setup.Load.Fresh && !c.plan.OneAtATime:
		return &eachItsOwn{t} // a pool would let two exchanges in flight share one
	case c.plan.Pool == PoolNone:
		return &onlyOne{transport: t}
	}
	return t
}

// Open implements wire.Opener.
func (c *client) Open() error {
	open := func() error {
		return wire.Each(len(c.Dialer.Routes()), func(i int) error { return c.verify(context.Background(), i) })
	}
	if c.plan.Pool == PoolShared && !c.Setup.Load.Fresh {
		open = c.openTogether
	}
	if err := open(); err != nil {
		return err
	}
	if err := c.Dialer.OneEach(); err != nil {
		return err
	}
	if !c.pooled() {
		return nil
	}
	return Checking(c.renewed, func() error {
		return CheckStreams(c.Setup, fmt.Sprintf(", or do without the pool (opt.pool=%s)", PoolNone), c.Exchange)
	})
}

// openTogether verifies the connections of a shared pool. All exchanges begin at
// once, or the pool would give two of them the same connection.
func (c *client) openTogether() error {
	connections := len(c.Dialer.Routes())
	group, ctx := errgroup.WithContext(context.Background())
	ctx = together(ctx, connections)
	for i := range connections {
		group.Go(func() error { return c.verify(ctx, i) })
	}
	return group.Wait()
}

// verify makes the first exchange of a connection. Over HTTP/2 it waits until a
// second one finds the connection.
func (c *client) verify(ctx context.Context, i int) error {
	err := c.Verify(ctx, i)
	if err != nil || !c.pooled() {
		return err
	}
	return c.Explain(i, c.renewed[i].Settle(func() error { return c.Exchange(context.Background(), i) }))
}

// pooled tells whether each connection is one that an http.Transport keeps for several
// requests at once.
func (c *client) pooled() bool {
	return !c.plan.OneAtATime && c.plan.Pool == PoolOwn && !c.Setup.Load.Fresh
}

// Close implements wire.Opener.
func (c *client) Close() {
	c.Client.Close()
	c.Library.Close()
}
