package nethttp

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/httpwire"
	"netdyno/internal/work/wire/tlswire"
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

// Describe describes a transport whose client is net/http's: it ends a request that its
// context has ended, and its handler and client see replies come in parts.
func Describe(t contract.Transport) contract.Transport {
	t.Features = append(slices.Clone(t.Features), contract.FeatureDeadline, contract.FeatureStreamDown, contract.FeatureEvents, contract.FeatureStages, contract.FeatureResume)
	t.Options = append(slices.Clone(t.Options), httpwire.EventOptions()...)
	return t
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
	encryption, err := tlswire.TrustingConfig(c.Setup)
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
			if c.plan.OneAtATime && c.Setup.Stages {
				dial = arriving(dial, c.Arrival(i))
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

// arriving returns what dials connections that say when bytes were read.
func arriving(dial func(context.Context) (net.Conn, error), at *httpwire.Arrival) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		conn, err := dial(ctx)
		if err != nil {
			return nil, err
		}
		return &told{conn, at}, nil
	}
}

// told is a connection that says when bytes were read.
type told struct {
	net.Conn
	at *httpwire.Arrival
}

// Read implements net.Conn.
func (c *told) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.at.Now()
	}
	return n, err
}

func (c *client) transport(encryption *tls.Config) *http.Transport {
	t := c.plan.Transport()
	t.TLSClientConfig = encryption.Clone()
	t.DisableKeepAlives = c.Setup.Load.Fresh
	t.TLSHandshakeTimeout = time.Duration(c.Setup.Load.ConnectNs)
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

// CheckStreams makes sure, on one connection to each server, that an HTTP/2
// connection carries as many streams as will be in flight. When all of them are
// in use, an http.Transport dials another connection, which would end the trial
// in the middle. (With StrictMaxConcurrentRequests the pool of Go 1.26 waits for
// ever, because the waiting requests count as streams in use.)
//
// exchange makes one exchange on a connection; its requests have to carry ctx.
// instead is further advice for the error, which is of kind setup. One exchange in
// flight on a connection, and fresh connections, need no check.
func CheckStreams(setup contract.Setup, instead string, exchange func(ctx context.Context, connection int) error) error {
	inFlight := setup.Load.InFlight
	if inFlight < 2 || setup.Load.Fresh {
		return nil
	}
	// A stream is in use a little longer than its exchange: net/http frees it in
	// the background, and the slot's next exchange may have begun by then.
	streams := 2 * inFlight
	for i := range min(len(setup.Peers), setup.Load.Connections) {
		group, ctx := errgroup.WithContext(context.Background())
		ctx = together(ctx, streams)
		for range streams {
			group.Go(func() error { return exchange(ctx, i) })
		}
		if err := group.Wait(); err != nil {
			return load.Failure(contract.SetupFailed, fmt.Errorf(
				"load.in_flight is %d, and a connection to %s does not carry the %d streams at once that an http.Transport needs for them; "+
					"raise the server's limit (opt.server.max_streams), or use more connections%s: %w", inFlight, setup.Peers[i], streams, instead, err))
		}
	}
	return nil
}

// together returns a context for n requests. Each request waits, between getting
// its connection and being sent, until all n have come. Then none of them uses
// a connection or a stream that another has finished with. The waiting ends
// early when ctx ends, because a request may have failed.
func together(ctx context.Context, n int) context.Context {
	var missing atomic.Int64
	missing.Store(int64(n))
	all := make(chan struct{})
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		if missing.Add(-1) == 0 {
			close(all)
		}
		select {
		case <-all:
		case <-ctx.Done():
		}
	}})
}
