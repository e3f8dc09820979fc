package gowebsocket

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gobwas/ws"

	"netdyno/internal/contract"
	"netdyno/internal/websocket"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
	"netdyno/internal/work/wire/tlswire"
)

// client carries a request as a message on its connection, which it makes where there is none.
type client struct {
	*httpwire.Client
	encryption *tls.Config
	op         ws.OpCode             // of requests; 0 where none is sent
	several    bool                  // a reply is several messages
	ends       []atomic.Pointer[end] // by connection, each used by its own exchanges alone; nil where there is none
	rooms      []bytes.Buffer
	closed     atomic.Bool    // no exchange shall go on
	leaving    sync.WaitGroup // connections that wait for the other end's close
	late       *time.Timer    // breaks what does not end by itself
}

// Client implements load.Transport.
func (t Transport) Client(setup contract.Setup) (load.Client, error) {
	inner, err := httpwire.NewHandshakeClient(setup, t.Codecs)
	if err != nil {
		return nil, err
	}
	inner.Dialer.AllowReconnects()
	n := len(inner.Dialer.Routes())
	c := &client{
		Client: inner, op: opcodes[load.Options(setup.Options).Text("message")], ends: make([]atomic.Pointer[end], n), rooms: make([]bytes.Buffer, n),
		several: setup.Exchange.Stream == contract.StreamDown || setup.Events && inner.Ask.Any,
	}
	if c.encryption, err = tlswire.TrustingConfig(setup); err != nil {
		return nil, err
	}
	inner.Library = c
	return c.Connect(c, nil)
}

// Open implements wire.Opener.
func (c *client) Open() error {
	c.attend()
	return c.Client.Open()
}

// attending is how often idle connections are looked for: a ping is answered within twice that.
const attending = 100 * time.Millisecond

// attend has pings of servers answered on connections that are idle, until Close.
func (c *client) attend() {
	if c.closed.Load() {
		return
	}
	for i := range c.ends {
		if e := c.ends[i].Load(); e != nil {
			e.idle()
		}
	}
	time.AfterFunc(attending, c.attend)
}

// Close implements wire.Opener: nothing is read any more.
func (c *client) Close() {
	c.closed.Store(true)
	c.late = time.AfterFunc(closing, c.Client.Close)
	for i := range c.ends {
		if e := c.ends[i].Load(); e != nil {
			_ = e.conn.SetReadDeadline(past) // or it is closed
		}
	}
}

// Release implements wire.Releaser: servers are told that the connections end.
func (c *client) Release() {
	for i := range c.ends {
		if c.ends[i].Load() != nil {
			c.leave(i)
		}
	}
	c.leaving.Wait()
	c.late.Stop()
	c.Client.Close()
}

// Do implements httpwire.Library.
func (c *client) Do(ctx context.Context, r *httpwire.Request) error {
	e := c.ends[r.Connection].Load()
	if e == nil {
		var sent bool
		var err error
		if e, sent, err = c.open(ctx, r); err != nil {
			if sent {
				httpwire.Wrote(ctx)
			}
			return err
		}
		c.ends[r.Connection].Store(e)
	}
	if c.closed.Load() {
		return net.ErrClosed
	}
	if ctx.Done() != nil {
		stop := context.AfterFunc(ctx, func() { _ = e.conn.Close() }) // the exchange ends
		defer stop()
	}
	var err error
	if c.op != 0 {
		err = e.send(c.op, r.Content)
	}
	e.reads.Lock() // idle lets go of it when the reply comes
	defer e.reads.Unlock()
	e.calls = 0
	if err != nil {
		var closed *load.ReasonError
		if said := e.next(); errors.As(said, &closed) { // before the message went out
			err = said
		}
		c.drop(r.Connection)
		return err
	}
	httpwire.Wrote(ctx)
	over, err := c.receive(e, r)
	switch {
	case err != nil:
		c.drop(r.Connection)
	case over, c.Setup.Load.Fresh:
		c.leave(r.Connection)
	}
	return err
}

// drop forgets a connection that broke, or that nothing more can be read of; one that Close
// broke is told to the server.
func (c *client) drop(i int) {
	if c.closed.Load() {
		c.leave(i)
	} else if e := c.ends[i].Swap(nil); e != nil {
		_ = e.conn.Close() // what broke it is known
	}
}

// leave closes a connection as the protocol has it, beside the exchanges that follow.
func (c *client) leave(i int) {
	e := c.ends[i].Swap(nil)
	c.leaving.Go(func() { e.close(ws.StatusNormalClosure, "") })
}

// receive reads the reply to a request. It tells whether the connection ends with it.
func (c *client) receive(e *end, r *httpwire.Request) (over bool, err error) {
	room := &c.rooms[r.Connection]
	room.Reset()
	for first := true; err == nil; first = false {
		if err = e.next(); err != nil {
			break
		}
		if first {
			r.Replied()
			r.Follow.Begin(nil, func() { _ = e.conn.SetReadDeadline(past) })
		}
		if r.Follow.Discards() {
			room.Reset()
		}
		var n int64
		if n, err = e.receive(room); err != nil {
			break
		}
		over = r.Follow.Message(n)
		if over || !c.several || !r.Ask.Any && int64(room.Len()) >= r.Down {
			break
		}
		if room.Len() > contract.MaxMessage {
			return true, load.Failure(contract.Invalid, fmt.Errorf("the reply has more than %d bytes", contract.MaxMessage))
		}
	}
	var closed closedError
	switch cut := r.Follow.Ended(); {
	case err == nil:
	case cut && load.KindOf(err) == contract.Peer, r.Ask.Any && r.Follow.Came() && errors.As(err, &closed) && closed.normal():
		over = true // the reply has no other end
	default:
		return true, err
	}
	if n := int64(room.Len()); n != r.Down && !r.Ask.Any {
		return true, load.Failure(contract.Invalid, fmt.Errorf("the reply has %d bytes, expected %d", n, r.Down))
	}
	return over || c.several && r.Ask.Any, load.Invalidly(r.Accept(room.Bytes()))
}

// shaking bounds a handshake where setup.load.connect_ns does not, and past is a deadline that
// has passed.
const shaking = 10 * time.Second

var past = time.Unix(1, 0)

// open makes a connection of a request. sent tells whether the handshake went out.
func (c *client) open(ctx context.Context, r *httpwire.Request) (e *end, sent bool, err error) {
	u, err := url.Parse("ws" + strings.TrimPrefix(r.URL, "http"))
	if err != nil {
		return nil, false, load.Failure(contract.Bug, err) // it was parsed at setup
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(time.Duration(c.Setup.Load.ConnectNs), shaking))
	defer cancel()
	conn, err := c.Dialer.Dial(ctx, r.Connection)
	if err != nil {
		return nil, false, err
	}
	tcp := conn
	defer context.AfterFunc(ctx, func() { _ = tcp.SetDeadline(past) })()
	if c.encryption != nil {
		if conn, err = tlswire.Handshake(ctx, conn, c.encryption, u.Hostname(), c.Load); err != nil {
			return nil, false, err
		}
	}
	var refused error
	before, _, err := websocket.Shake(conn, u, r.Ask.Headers, r.Ask.Host, func(answer *http.Response) { refused = refusal(answer) })
	if err != nil {
		_ = conn.Close() // the handshake has failed
		return nil, true, cmp.Or(refused, failure(err))
	}
	most := r.Down
	if r.Ask.Any {
		most = contract.MaxMessage
	}
	return newEnd(conn, ws.StateClientSide, before, most), true, nil
}

// refusal says what a server answers a handshake with in place of 101.
func refusal(answer *http.Response) error {
	const most = 200
	body, _ := io.ReadAll(io.LimitReader(answer.Body, most)) // a part of it will do
	return httpwire.WrongStatus(answer.StatusCode, fmt.Errorf("the handshake is answered with status %d %s%s, expected 101 Switching Protocols",
		answer.StatusCode, http.StatusText(answer.StatusCode), httpwire.Reason(body)))
}
