package gofasthttp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/httpwire"
	"netdyno/internal/work/wire/tlswire"
)

// idle is how long a connection may carry nothing. fasthttp would close it after
// 10 s, but an idle connection of a trial has to stay.
const idle = 24 * time.Hour

// client carries requests by fasthttp.HostClient.
type client struct {
	*httpwire.Client
	buffers buffers
	hosts   []*fasthttp.HostClient // by connection
	trips   []exchange             // … what carries its requests
}

// Client implements load.Transport.
func (t Transport) Client(setup contract.Setup) (load.Client, error) {
	c, err := t.client(setup)
	if err != nil {
		return nil, err
	}
	return c.Connect(c, c.buffers.effective())
}

// client prepares the connections and opens none.
func (t Transport) client(setup contract.Setup) (*client, error) {
	inner, err := httpwire.NewClient(setup, t.Codecs, true)
	if err != nil {
		return nil, err
	}
	inner.Dialer.AllowReconnects()
	c := &client{Client: inner, buffers: buffersOf(setup)}
	inner.Library = c
	return c, c.prepare()
}

// prepare makes a HostClient for each connection, which dials when it is first
// used.
func (c *client) prepare() error {
	encryption, err := tlswire.TrustingConfig(c.Setup)
	if err != nil {
		return err
	}
	c.trips = make([]exchange, len(c.Dialer.Routes()))
	for i, route := range c.Dialer.Routes() {
		c.hosts = append(c.hosts, &fasthttp.HostClient{
			Addr: route.Peer.Host(),
			Dial: func(string) (net.Conn, error) { return c.dial(i, encryption) },
			// Without retries: an exchange that failed must count as failed.
			MaxConns: 1, MaxIdemponentCallAttempts: 1, MaxIdleConnDuration: idle, Transport: &c.trips[i],
			ReadBufferSize: c.buffers.read, WriteBufferSize: c.buffers.write, MaxResponseBodySize: c.most(),
			IsTLS: encryption != nil, TLSConfig: encryption,
			DisablePathNormalizing: true, // what is asked for is what the user wrote
		})
	}
	return nil
}

// dial makes connection i. The library would make the handshake with the first request, where
// it could not be timed.
func (c *client) dial(i int, encryption *tls.Config) (net.Conn, error) {
	conn, err := c.Dialer.Dial(context.Background(), i)
	if err != nil || encryption == nil || c.Load == nil {
		return conn, err
	}
	return tlswire.Handshake(context.Background(), conn, encryption, c.Dialer.Routes()[i].Peer.Addr().String(), c.Load)
}

// most is the largest body that the library reads.
func (c *client) most() int {
	if c.Ask.Any {
		return contract.MaxMessage
	}
	return bound(c.Content.DownBytes)
}

// Do implements httpwire.Library.
func (c *client) Do(ctx context.Context, r *httpwire.Request) error {
	request, response := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(request)
	defer fasthttp.ReleaseResponse(response)
	request.SetRequestURI(r.URL)
	if strings.HasSuffix(r.URL, "?") {
		keepEmptyQuery(request.URI())
	}
	request.Header.SetMethod(r.Method)
	if len(r.Content) > 0 || r.Method == fasthttp.MethodPost {
		request.Header.SetContentType(r.MediaType)
		request.SetBodyRaw(r.Content)
	}
	if r.Asks {
		request.Header.Set(codec.DownHeader, strconv.FormatInt(r.Down, 10))
	}
	r.Ask.Set(request.Header.Set, request.Header.Add)
	if r.Ask.Host != "" {
		request.UseHostHeader = true
		request.Header.SetHost(r.Ask.Host)
	}
	if c.Setup.Load.Fresh {
		request.SetConnectionClose()
	}
	c.trips[r.Connection].of = r
	err := c.hosts[r.Connection].Do(request, response)
	if err == nil {
		httpwire.Wrote(ctx)
		return c.takeBody(response, r)
	}
	unsent := load.UnsentError{}
	if errors.As(err, &unsent) {
		return c.judge(unsent.Err) // whether another request of the exchange went out, the trace tells
	}
	httpwire.Wrote(ctx)
	return c.judge(err)
}

// keepEmptyQuery writes the question mark behind a path that an empty query follows,
// which the library leaves out.
func keepEmptyQuery(u *fasthttp.URI) {
	if len(u.QueryString()) == 0 {
		u.SetPath(string(u.PathOriginal()) + "?")
	}
}

// takeBody checks the reply to a request. What is wrong with it is an error of kind invalid.
func (c *client) takeBody(response *fasthttp.Response, of *httpwire.Request) error {
	if status := response.StatusCode(); !of.Ask.Takes(status) {
		return httpwire.WrongStatus(status, fmt.Errorf("the reply has status %d %s%s, expected %s",
			status, fasthttp.StatusMessage(status), httpwire.Reason(response.Body()), of.Ask.Expected()))
	}
	reply := response.Body()
	if n := int64(len(reply)); n != of.Down && !c.Ask.Any {
		return load.Failure(contract.Invalid, fmt.Errorf("the reply has %d bytes, expected %d", n, of.Down))
	}
	return load.Invalidly(of.Accept(reply))
}

// judge gives an error of the library its kind.
func (c *client) judge(err error) error {
	if errors.Is(err, fasthttp.ErrBodyTooLarge) {
		return load.Failure(contract.Invalid, fmt.Errorf("the reply has more than the expected %d bytes", c.Content.DownBytes))
	}
	if errors.Is(err, fasthttp.ErrConnectionClosed) {
		return wire.ErrNoReply
	}
	var small *fasthttp.ErrSmallBuffer
	if errors.As(err, &small) {
		return load.Failure(contract.Invalid, fmt.Errorf("the reply has more than %d bytes of headers", c.buffers.read))
	}
	return err
}
