package gogrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
)

// caller makes the exchanges of one slot, one after the other. The slot's
// goroutine owns it.
type caller interface {
	// take makes the next exchange carry what was drawn for it.
	take(load.Draw)
	// call makes an exchange and returns the reply, to be accepted and released.
	call() (in any, err error)
	accept(in any) (int64, error)
	verify(connection int, in any) error
	release(in any)
	// end closes what stays open between calls.
	end()
}

// exchange makes one exchange and checks the reply. Every load.Call does this.
func exchange(k caller) (received int64, err error) {
	in, err := k.call()
	if err != nil {
		return 0, failure(err)
	}
	received, err = k.accept(in)
	k.release(in)
	return received, load.Invalidly(err)
}

// caller returns the kind of caller that the trial needs, of a slot; nil for a connection's
// first exchange. Its calls end with ctx.
func (c *client) caller(ctx context.Context, conn *connection, slot *load.Slot) caller {
	tells := tellerOf(c.setup, slot)
	switch {
	case c.follow != nil:
		return &followed{
			follow: c.follow, teller: tells, ctx: ctx, conn: conn, method: c.method,
			deadline: c.deadline, own: c.own, first: slot == nil, sent: make(chan error, 1),
		}
	case c.setup.Exchange.Stream != "":
		return &chunked{
			session: session{ctx: ctx, conn: conn, method: c.method, desc: chunkDesc(c.setup.Exchange.Stream)},
			x:       c.x, chunkers: c.chunkers, teller: tells,
		}
	case c.options.Text("mode") == "stream":
		t := &streamCall{session: session{ctx: ctx, conn: conn, method: c.method, desc: &streamCallDesc}, messages: messages{c.payload, c.x.Own()}}
		// Opening the stream here keeps it out of the first exchange's time. A
		// failure shows again in that exchange, with its kind.
		_ = t.begin()
		return t
	}
	return &unary{
		messages: messages{c.payload, c.x.Own()}, teller: tells, ctx: ctx, conn: conn,
		method: c.method, deadline: c.deadline, own: c.own, classes: c.classes,
	}
}

// messages are those of one slot, whole.
type messages struct {
	payload
	x *codec.Exchange // the slot's own
}

func (m *messages) take(d load.Draw)             { m.x.Take(d) }
func (m *messages) accept(in any) (int64, error) { return m.payload.accept(m.x, in) }

func (m *messages) verify(connection int, in any) error {
	return m.payload.verify(m.x, connection, in)
}

// unary makes an RPC for each exchange.
type unary struct {
	messages
	teller
	ctx      context.Context
	conn     *connection
	method   string
	deadline time.Duration // of each call; 0 for none
	own      bool          // … which is the load's or the class's
	classes  []class       // empty unless the load mixes some
	of       *class        // of the next exchange, where it does
}

func (u *unary) call() (any, error) {
	in, ctx := u.incoming(), u.ctx
	if u.deadline > 0 {
		within, cancel := context.WithTimeout(ctx, u.deadline)
		defer cancel()
		ctx = within
	}
	if u.x.Asks() {
		ctx = metadata.AppendToOutgoingContext(ctx, codec.DownHeader, strconv.FormatInt(u.x.DownBytes, 10))
	}
	if err := u.invoke(ctx, in); err != nil {
		u.release(in)
		if u.own && status.Code(err) == codes.DeadlineExceeded {
			err = httpwire.NoReplyWithin(u.deadline)
		}
		return nil, err
	}
	return in, nil
}

func (u *unary) end() {}

// invoke does what the library's Invoke does, and tells when the reply's parts come.
func (u *unary) invoke(ctx context.Context, in any) error {
	if u.slot == nil {
		return u.conn.Invoke(ctx, u.method, u.request(), in)
	}
	stream, err := u.conn.NewStream(ctx, &unaryDesc, u.method)
	if err == nil {
		err = stream.SendMsg(u.request())
	}
	if err != nil && !errors.Is(err, io.EOF) { // which receiving explains
		return err
	}
	u.begun(stream)
	if err = stream.RecvMsg(in); err == nil {
		u.came()
	}
	return err
}

// unaryDesc is the kind of a call with one message each way.
var unaryDesc grpc.StreamDesc

// session opens streams one after the other.
type session struct {
	ctx    context.Context
	conn   *connection
	method string
	desc   *grpc.StreamDesc
	stream grpc.ClientStream

	// The context of its streams is made once, to save an allocation for each.
	streams context.Context
	cancel  context.CancelFunc
}

// begin opens a stream unless one is open.
func (s *session) begin() (err error) {
	if s.stream != nil {
		return nil
	}
	if s.cancel == nil {
		s.streams, s.cancel = context.WithCancel(s.ctx)
	}
	if s.stream, err = s.conn.NewStream(s.streams, s.desc, s.method); err != nil {
		s.stream = nil // the library returns an interface that holds nothing
	}
	return err
}

// end cancels the stream that is open. Without that it would keep a goroutine of
// the library and its part of the flow-control window.
func (s *session) end() {
	if s.cancel != nil {
		s.cancel()
	}
	s.stream, s.cancel = nil, nil
}

// refused returns why a send failed. For io.EOF the reason comes from receiving
// (documentation of grpc.ClientStream, SendMsg).
func (s *session) refused(sent error, into any) error {
	if !errors.Is(sent, io.EOF) {
		return sent
	}
	if err := s.stream.RecvMsg(into); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return ended(s.method)
}

func ended(method string) error {
	return load.Failure(contract.Invalid, fmt.Errorf("the server ended the stream of %s before its reply was complete", method))
}

// streamCallDesc is the kind of a stream that carries whole messages.
var streamCallDesc = grpc.StreamDesc{ClientStreams: true, ServerStreams: true}

// streamCall sends and receives one message for each exchange on a stream that
// stays open, as grpc-go's own streaming benchmark does.
type streamCall struct {
	session
	messages
}

func (t *streamCall) call() (any, error) {
	if err := t.begin(); err != nil {
		return nil, err
	}
	in := t.incoming()
	err := t.stream.SendMsg(t.outgoing(t.x.UpBytes))
	if err != nil {
		err = t.refused(err, in)
	} else if err = t.stream.RecvMsg(in); errors.Is(err, io.EOF) {
		err = ended(t.method)
	}
	if err != nil {
		t.release(in)
		t.end()
		return nil, err
	}
	return in, nil
}

// chunked makes an RPC for each exchange, whose content travels in chunks.
type chunked struct {
	session
	teller
	x        *codec.Exchange
	chunkers *chunkers
}

func (k *chunked) call() (any, error) {
	c := k.chunkers.takeChunker()
	err := k.begin()
	if err == nil {
		if err = k.converse(c); err != nil {
			k.end()
		}
	}
	if err != nil {
		k.chunkers.give(c)
		return nil, err
	}
	k.stream = nil // both ends have finished it
	return c, nil
}

func (k *chunked) converse(c *chunker) error {
	request, err := k.x.Request(c.Room)
	if err != nil {
		return load.Failure(contract.Bug, err)
	}
	if k.x.Structured() {
		c.Room = request
	}
	if err := c.send(k.stream, request, k.desc.ClientStreams); err != nil {
		return k.refused(err, c.Block(nil))
	}
	if err := k.stream.CloseSend(); err != nil {
		return err
	}
	k.begun(k.stream)
	if err := c.receive(k.stream, k.desc.ServerStreams, k.teller); err != nil {
		if errors.Is(err, io.EOF) {
			return ended(k.method)
		}
		return err
	}
	return nil
}

// take has nothing to do: streams have no sizes that vary.
func (k *chunked) take(load.Draw) {}

func (k *chunked) accept(in any) (int64, error) {
	reply := in.(*chunker).Joined()
	return int64(len(reply)), k.x.Accept(reply)
}

func (k *chunked) verify(connection int, in any) error {
	return k.x.Verify(connection, in.(*chunker).Joined())
}

func (k *chunked) release(in any) { k.chunkers.give(in.(*chunker)) }

// failure gives an RPC's error the contract's kind: peer when the connection is
// lost, timeout when the deadline has passed, invalid when the reply is not the
// expected one. The text is the status's message, without the library's wrapping.
func failure(err error) error {
	var known *contract.Error
	if errors.As(err, &known) {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) { // of a stream's context, which has no status
		return load.Failure(contract.Timeout, err)
	}
	s, ok := status.FromError(err)
	if !ok {
		return load.Failure(contract.Invalid, err)
	}
	text := s.Code().String()
	if s.Message() != "" {
		text += ": " + s.Message()
	}
	return &load.ReasonError{Err: load.Failure(kindOf(s.Code()), errors.New(text+hint(s.Code()))), Text: text}
}

// kindOf returns the contract's kind of a status. Source: gRPC, Status codes and
// their use in gRPC (doc/statuscodes.md).
func kindOf(code codes.Code) contract.ErrorKind {
	switch code {
	case codes.Unavailable, codes.Canceled:
		return contract.Peer
	case codes.DeadlineExceeded:
		return contract.Timeout
	}
	return contract.Invalid
}

// hint returns advice for a status that a trial's settings can cause.
func hint(code codes.Code) string {
	switch code {
	case codes.ResourceExhausted:
		return "; option max_message of the receiving end (opt.server.max_message, opt.client.max_message) is the limit, 0 raises it to what the exchange needs"
	case codes.Unimplemented:
		return "; both ends need the same exchange, and the same option method if it is given"
	case codes.Internal, codes.InvalidArgument:
		return "; both ends need the same exchange and the same option codec"
	}
	return ""
}
