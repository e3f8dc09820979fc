package httpwire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/tlswire"
)

// Library carries requests. Any goroutine may call it.
type Library interface {
	// Do carries a request on its connection and hands the reply's body to
	// r.Accept. It checks that the reply has the expected status and size; what has
	// not is an error of kind invalid.
	Do(ctx context.Context, r *Request) error
}

// Request is the client's part of an exchange.
type Request struct {
	Connection int
	URL        string
	Method     string
	Ask        *Ask   // what the user adds, and what the reply must have
	MediaType  string // of Content
	Content    []byte // not to be changed
	Down       int64  // length of the reply, in bytes
	Asks       bool   // a header says so to the server, because it varies (codec.DownHeader)
	Accept     func(reply []byte) error
	Follow     *Follower // of the reply; nil where nobody asks when its parts come

	slot    *load.Slot // nil where nobody asks for the first byte
	arrived *Arrival   // of the connection; nil where its reads are not seen
}

// Replied says that the first byte of the reply is there, or what the library hands over first.
func (r *Request) Replied() {
	if r.slot != nil {
		r.slot.FirstByte(r.arrived.Last())
	}
}

// Client is the part of a client that is the same with every library: what is
// asked for, how a reply is checked, and a connection's first exchange. A
// transport embeds it and adds the library. Any goroutine may use it.
type Client struct {
	Setup   contract.Setup
	Content *codec.Exchange
	Dialer  *wire.Dialer
	Library Library
	Ask     Ask

	// Mismatch returns an error that says which end encrypts where the other does
	// not. NewClient sets it for TCP; nil asks nobody.
	Mismatch func(wire.Route) error

	// Made tells whether connection i was there when it was made last, so that the next
	// exchange may make it again. NewClient sets the Dialer's.
	Made func(i int) bool

	// Tell gives the load to what dials, where the trial asks for stages. NewClient sets the
	// Dialer's.
	Tell func(*load.Load)
	Load *load.Load // that is told how long stages took; nil for nobody

	Asked
	repeated   atomic.Int64 // first exchanges that were sent again
	oneAtATime bool         // a connection carries one exchange at a time
	classes    []class
	turns      []*turns  // by connection
	arrivals   []Arrival // by connection
	told       told
	fill       *fill // nil where requests do not differ by rows
}

// NewClient prepares the exchanges of a trial. oneAtATime says that a connection
// carries one exchange at a time, as in HTTP/1.1. The caller sets Library.
func NewClient(setup contract.Setup, codecs []codec.Codec, oneAtATime bool) (*Client, error) {
	if oneAtATime && setup.Load.InFlight > 1 {
		return nil, load.Failure(contract.Unsupported, fmt.Errorf(
			"load.in_flight is %d: %s carries one exchange at a time on a connection; use more connections", setup.Load.InFlight, setup.Transport))
	}
	c := &Client{Setup: setup, oneAtATime: oneAtATime, Mismatch: func(r wire.Route) error { return tlswire.Mismatch(setup, r) }}
	if proxied, _ := setup.Options[ProxiedOption].(string); proxied != "" {
		c.Mismatch = nil // the peer is a proxy, which speaks plain text
	}
	var err error
	if c.Ask, err = askOf(setup); err != nil {
		return nil, err
	}
	if c.Content, err = codec.New(setup, codecs); err != nil {
		return nil, err
	}
	if c.Dialer, err = wire.NewDialer(setup); err != nil {
		return nil, err
	}
	c.Made, c.Tell, c.arrivals = c.Dialer.Made, c.Dialer.Tell, make([]Arrival, len(c.Dialer.Routes()))
	if c.classes, err = c.classesOf(); err != nil {
		return nil, err
	}
	if c.fill, err = c.fillOf(); err != nil {
		return nil, err
	}
	return c, c.takeTurns()
}

// Connect opens the connections by opener, which is the transport's client, and returns
// the client that runs the load on them. options are the effective options that differ
// from the ones asked for.
func (c *Client) Connect(opener wire.Opener, options map[string]any) (load.Client, error) {
	l, err := load.NewForGoroutines(c.Content.Setup(c.Setup))
	if err != nil {
		return nil, err
	}
	apart := wire.Apart(c.Setup)
	if len(c.told.names) > 1 {
		l.Paths(c.told.names)
	} else if apart {
		l.Paths(c.Setup.Peers)
	}
	if c.fill != nil {
		l.Numbered()
	}
	if c.Setup.Stages {
		c.Load = l
		c.Tell(l)
	}
	effective := maps.Clone(c.Setup.Options)
	maps.Copy(effective, options)
	runner := load.NewSlotRunner(l, func(connection, slot int) load.Call {
		s := &l.Slots(connection)[slot]
		if apart {
			s.AsksFor(connection % len(c.Setup.Peers))
		}
		return c.slotCall(connection, s)
	})
	return wire.Connect(runner, opener, c.Content.Sizes(contract.Ready{Options: effective}))
}

// Open implements wire.Opener.
func (c *Client) Open() error {
	if err := wire.Each(len(c.turns), func(i int) error { return c.Verify(context.Background(), i) }); err != nil {
		return err
	}
	return c.Dialer.OneEach()
}

// Verify makes the first exchange of connection i and checks the reply's content.
// The error has the contract's kind and names the connection.
func (c *Client) Verify(ctx context.Context, i int) error {
	first := c.newCall(ctx, i)
	first.first = true
	if load.Options(c.Setup.Options).Text("verify") == wire.VerifyContent {
		first.request.Accept = func(reply []byte) error { return explainVerify(first.content.Verify(i, reply)) }
	}
	tries := c.Tries()
	repeats, err := wire.Repeat(c.Setup.Load.MaxErrors, func() error { _, err := first.do(); return tries.Tried(err) },
		func(err error) bool { return c.mayRepeat(i, err) },
		func(err error) bool {
			return wire.Fails(err) && (c.Dialer.MayReconnect() || load.KindOf(err) == contract.Invalid)
		})
	c.repeated.Add(int64(repeats))
	return wire.Tried(repeats, c.Explain(i, err))
}

// mayRepeat tells whether a first exchange that failed is worth another try: with
// another's server, which did not get it, or may get it twice and was too busy or lost.
func (c *Client) mayRepeat(i int, err error) bool {
	if load.Options(c.Setup.Options).Text("verify") == wire.VerifyContent || !c.Dialer.MayReconnect() {
		return false
	}
	if !repeatable(c.Ask.method(c.Content.UpBytes > 0 || c.Content.Structured())) {
		return lost(err) && !c.Made(i)
	}
	return lost(err) || tooBusy(err)
}

// Repeated implements wire.Repeater.
func (c *Client) Repeated() int { return int(c.repeated.Load()) }

// Explain returns why connection i could not be made or verified: the dialler's
// own words, a mismatch of TLS, what was wrong with the reply, or the library's
// words. nil stays nil.
func (c *Client) Explain(i int, err error) error {
	if err == nil {
		return nil
	}
	var known *contract.Error
	judged := errors.As(err, &known)
	if judged && known.Kind != contract.Invalid {
		return known
	}
	route, of := c.Dialer.Routes()[i], len(c.Dialer.Routes())
	if c.Mismatch != nil {
		if mismatch := c.Mismatch(route); mismatch != nil {
			return wire.ConnectFailure(i, of, route, mismatch)
		}
	}
	if judged {
		return load.Failure(known.Kind, fmt.Errorf("verify connection %d of %d to %s: %s", i+1, of, route.Peer, known.Text))
	}
	return wire.ConnectFailure(i, of, route, err)
}

// Exchange makes one exchange on connection i, whose requests carry ctx.
func (c *Client) Exchange(ctx context.Context, i int) error {
	_, err := c.newCall(ctx, i).do()
	c.First(err)
	return err
}

// Call returns what makes exchanges on connection i, all of them like the first.
func (c *Client) Call(i int) load.Call { return c.newCall(context.Background(), i).do }

// slotCall returns what makes the exchanges of a slot of connection i.
func (c *Client) slotCall(i int, slot *load.Slot) load.Call {
	k := c.newCall(context.Background(), i)
	k.slot = slot
	if c.Setup.Stages {
		k.request.slot = slot
	}
	if k.request.Follow != nil {
		k.request.Follow.slot = slot
	}
	if !c.Content.Varies() && c.fill == nil {
		return k.do
	}
	return func() (int64, error) {
		k.beOf(slot.Draw())
		return k.do()
	}
}

// Reconnects implements load.Reconnector.
func (c *Client) Reconnects() int64 { return c.Dialer.Reconnects() }

// Close implements wire.Opener.
func (c *Client) Close() { c.Dialer.Close() }

// call makes the exchanges of one slot. One goroutine uses it.
type call struct {
	client   *Client
	turns    *turns
	slot     *load.Slot // nil of a call that is in no load
	ctx      context.Context
	sends    *Sends
	content  *codec.Exchange // the slot's own
	request  Request
	room     []byte // of the encoded request
	received int64  // length of the last reply, where any will do
	of       *class // nil unless the load mixes classes
	drawn    load.Draw
	first    bool // its exchange is the connection's first
	ask      Ask  // of a request that differs by its row
}

func (c *Client) newCall(ctx context.Context, i int) *call {
	sends, content := c.Sends(), c.Content.Own()
	k := &call{client: c, turns: c.turns[i], ctx: sends.Trace(ctx, c.Load), sends: sends, content: content, request: Request{
		Connection: i, Method: c.Ask.method(c.Content.UpBytes > 0 || c.Content.Structured()), Ask: &c.Ask,
		MediaType: c.Content.MediaType(), Asks: content.Asks(), Accept: content.Accept, Follow: c.follower(i), arrived: c.Arrival(i),
	}}
	if c.Ask.Any {
		k.request.Accept = k.measure
	}
	k.beOf(content.First(i))
	return k
}

// measure accepts a reply of any length whose body is as expected.
func (k *call) measure(reply []byte) error {
	k.received = int64(len(reply))
	return k.client.Ask.Check(reply)
}

// do implements load.Call.
func (k *call) do() (int64, error) {
	x := k.content
	content, err := x.Request(k.room)
	if err != nil {
		return 0, load.UnsentError{Err: load.Failure(contract.Bug, fmt.Errorf("encode the request: %w", err))}
	}
	if x.Structured() {
		k.room = content
	} else if body := k.client.Ask.Body; body != nil {
		content = body
	} else if k.of != nil {
		content = k.carried(content)
	}
	k.request.Content, k.request.URL, k.request.Down = content, k.url(), x.DownBytes
	k.filled()
	if err := k.sends.Ended(k.within()); err != nil {
		k.room = nil // the library may still be reading it
		return 0, k.named(err)
	}
	if f := k.request.Follow; f.Discards() {
		return f.came, nil
	}
	if k.client.Ask.Any {
		return k.received, nil
	}
	return x.DownBytes, nil
}

// carry sends the request, and once more where the server has closed the idle
// connection meanwhile and that does no harm (RFC 9112, section 9.3.1).
func (k *call) carry() error {
	d, i := k.client.Dialer, k.request.Connection
	err := k.send()
	idle := lost(err) && k.client.oneAtATime && d.Idle(i, err)
	if idle && repeatable(k.request.Method) {
		err, idle = k.client.Library.Do(k.ctx, &k.request), false
	}
	switch {
	case !lost(err):
		d.Over(i)
		return err
	case !k.client.Made(i):
		return err
	case idle && !errors.As(err, new(*load.ReasonError)): // else it says why it closed
		err = &load.ReasonError{Err: err, Text: "the server closed an idle connection"}
	}
	return load.PassingError{Err: err}
}

// send hands the request to the library. Where the library looks for a connection
// that another request is making, it looks again.
func (k *call) send() error {
	do := func() error { return k.client.Library.Do(k.ctx, &k.request) }
	err := do()
	if errors.Is(err, wire.ErrLost) && k.client.Made(k.request.Connection) {
		return wire.Settle(do)
	}
	return err
}

func lost(err error) bool { return err != nil && load.KindOf(err) == contract.Peer }

// repeatable tells whether a request does the same where it is sent twice (RFC 9110,
// section 9.2.2).
func repeatable(method string) bool {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	}
	return false
}

// named adds to what is wrong with a reply which of several paths was asked for.
func (k *call) named(err error) error {
	if len(k.turns.urls) == 1 && k.of == nil || load.KindOf(err) != contract.Invalid {
		return err
	}
	asked := quantity.Clip(k.request.URL, 200)
	if k.client.fill != nil && k.of != nil {
		asked = "class " + k.of.name // the URL has a part of a row, which may be secret
	}
	named := load.Failure(contract.Invalid, fmt.Errorf("%s: %s", asked, load.TextOf(err)))
	return &load.ReasonError{Err: named, Text: load.ReasonOf(err)}
}
