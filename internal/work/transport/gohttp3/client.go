package gohttp3

import (
	"context"
	"crypto/tls"
	"io"
	"maps"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/httpwire"
	"netdyno/internal/work/wire/nethttp"
	"netdyno/internal/work/wire/quicwire"
	"netdyno/internal/work/wire/tlswire"
)

// verifyTimeout bounds the making of a connection and its first exchange.
const verifyTimeout = 15 * time.Second

// client carries requests by http.Client. Every connection has an http3.Transport
// of its own, which makes that one QUIC connection.
type client struct {
	*httpwire.Client
	*nethttp.Library
	dialer *quicwire.Dialer
	conns  []atomic.Pointer[quic.Conn] // by route, once it is open
}

// Client implements load.Transport.
func (t Transport) Client(setup contract.Setup) (load.Client, error) {
	c, err := t.prepare(setup)
	if err != nil {
		return nil, err
	}
	ready, err := c.Connect(c, nil)
	if err != nil {
		return nil, err
	}
	maps.Copy(ready.Ready().Options, c.dialer.Effective)
	return ready, nil
}

// prepare plans the connections and opens none.
func (t Transport) prepare(setup contract.Setup) (*client, error) {
	dialer, err := quicwire.NewDialer(setup, http3.NextProtoH3, tlswire.TrustingConfig)
	if err != nil {
		return nil, err
	}
	inner, err := httpwire.NewClient(setup, t.Codecs, false)
	if err != nil {
		return nil, err
	}
	inner.Mismatch = nil // both ends encrypt
	inner.Made, inner.Tell = dialer.Made, dialer.Tell
	dialer.AllowReconnects()
	inner.AtEnd = true
	c := &client{Client: inner, Library: nethttp.NewLibrary(inner), dialer: dialer, conns: make([]atomic.Pointer[quic.Conn], len(dialer.Routes()))}
	for i := range dialer.Routes() {
		c.Carry(c.trip(i))
	}
	return c, nil
}

// trip returns what carries the requests of connection i.
func (c *client) trip(i int) http.RoundTripper {
	if c.Setup.Load.Fresh {
		return &eachItsOwn{c.dialer, i}
	}
	t := newTransport()
	t.Dial = func(ctx context.Context, _ string, _ *tls.Config, _ *quic.Config) (*quic.Conn, error) {
		conn, err := c.dialer.Dial(ctx, i)
		if err == nil {
			c.conns[i].Store(conn)
		}
		return conn, err
	}
	return t
}

func newTransport() *http3.Transport {
	return &http3.Transport{DisableCompression: true} // compressing replies would be other work
}

// Open implements wire.Opener.
func (c *client) Open() error {
	err := wire.Each(len(c.conns), func(i int) error {
		ctx, cancel := context.WithTimeout(context.Background(), verifyTimeout)
		defer cancel()
		return c.Verify(ctx, i)
	})
	if err != nil || c.Setup.Load.Fresh {
		return err
	}
	for i := range min(len(c.Setup.Peers), len(c.conns)) { // peers take turns
		if err := c.dialer.CheckStreams(c.conns[i].Load(), i); err != nil {
			return err
		}
	}
	return nil
}

// Reconnects implements load.Reconnector.
func (c *client) Reconnects() int64 { return c.dialer.Reconnects() }

// Close implements wire.Opener.
func (c *client) Close() { c.dialer.Close() }

// eachItsOwn carries each request on a connection of its own.
type eachItsOwn struct {
	dialer *quicwire.Dialer
	route  int
}

// RoundTrip implements http.RoundTripper; the reply's Body closes the connection.
func (e *eachItsOwn) RoundTrip(r *http.Request) (*http.Response, error) {
	conn, err := e.dialer.Dial(r.Context(), e.route)
	if err != nil {
		return nil, err
	}
	response, err := newTransport().NewClientConn(conn).RoundTrip(r)
	if err != nil {
		end(conn) // it has failed already
		return nil, err
	}
	response.Body = &lastBody{response.Body, conn}
	return response, nil
}

// lastBody is a body whose Close also closes its connection.
type lastBody struct {
	io.ReadCloser
	conn *quic.Conn
}

// Close implements io.Closer.
func (b *lastBody) Close() error {
	err := b.ReadCloser.Close()
	end(b.conn)
	return err
}

func end(conn *quic.Conn) {
	_ = conn.CloseWithError(quic.ApplicationErrorCode(http3.ErrCodeNoError), "")
}
