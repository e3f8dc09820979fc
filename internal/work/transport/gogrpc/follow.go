package gogrpc

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/httpwire"
)

// unstreamed is the level of option method_streams for a method with one message each way.
const unstreamed = "none"

// followOptions declares how a client calls a streaming method of another's service.
func followOptions() []contract.Option {
	mostEvents, day := float64(httpwire.MostEvents), float64(24*time.Hour)
	return []contract.Option{
		{Name: "method_streams", Type: contract.TypeChoice, Default: unstreamed, Choices: []string{unstreamed, string(contract.StreamUp), string(contract.StreamDown), string(contract.StreamBoth)}, Roles: onlyClient,
			Doc: "which messages of the method of option method are streams, each exchange one call: up, the requests, a line of option body each; down, the replies, each of which is an event; both, with the requests sent while replies come. Needs codec=raw, mode=unary and verify other than content"},
		{Name: "send_every", Type: contract.TypeDuration, Unit: "ns", Default: int64(0), Min: &none, Max: &day, Roles: onlyClient,
			Doc: "with method_streams=up or both: time from one request of a call to the next; 0 sends them at once"},
		{Name: "most_events", Type: contract.TypeInt, Default: int64(0), Min: &none, Max: &mostEvents, Roles: onlyClient,
			Doc: "with method_streams=down or both: replies after which the client ends a call; 0 is without bound"},
		{Name: "events_for", Type: contract.TypeDuration, Unit: "ns", Default: int64(0), Min: &none, Max: &day, Roles: onlyClient,
			Doc: "with method_streams=down or both: time since a call began after which the client ends it; 0 is without bound"},
	}
}

// teller tells a slot when the parts of a reply come; the zero value tells nobody.
type teller struct{ slot *load.Slot }

// tellerOf returns what tells a slot, which may be nil, where the trial asks for that.
func tellerOf(setup contract.Setup, slot *load.Slot) teller {
	if !setup.Events && !setup.Stages {
		return teller{}
	}
	return teller{slot}
}

// begun waits for the begin of a stream's reply. An error of it comes again with the first message.
func (t teller) begun(s grpc.ClientStream) {
	if t.slot == nil {
		return
	}
	if _, err := s.Header(); err == nil {
		t.slot.FirstByte(load.Now())
	}
}

// came says that a message has come whole.
func (t teller) came() {
	if t.slot != nil {
		t.slot.Event(load.Now())
	}
}

// follow is how a client calls a streaming method of another's service. Any goroutine may use it.
type follow struct {
	desc     grpc.StreamDesc
	messages []content // the requests of a call, in turn
	expect   wire.Expectation
	down     int64         // bytes of all replies together, unless expect takes any length
	every    time.Duration // between requests; 0 for none
	most     int64         // replies after which this end ends a call; 0 for all
	lasts    time.Duration // after which it does; 0 for ever
}

// followOf reads the options; nil where the method does not stream. The error is of kind
// unsupported for options that contradict each other.
func followOf(setup contract.Setup, o load.Options, a ask) (*follow, error) {
	streams := contract.Stream(o.Text("method_streams"))
	f := &follow{
		desc:   grpc.StreamDesc{ClientStreams: streams != contract.StreamDown, ServerStreams: streams != contract.StreamUp},
		expect: a.expect, down: setup.Exchange.DownBytes,
		every: time.Duration(o.Int("send_every")), most: o.Int("most_events"), lasts: time.Duration(o.Int("events_for")),
	}
	fails := func(text string) (*follow, error) {
		return nil, load.Failure(contract.Unsupported, errors.New("option "+text))
	}
	switch ends := f.most > 0 || f.lasts > 0; {
	case ends && (streams == unstreamed || !f.desc.ServerStreams):
		return fails("most_events or events_for is given, which end streams of replies: expected method_streams=down or both")
	case f.every > 0 && (streams == unstreamed || !f.desc.ClientStreams):
		return fails("send_every is given, and the requests are no stream: expected method_streams=up or both")
	case streams == unstreamed:
		return nil, nil
	case setup.Exchange.Stream != "" || o.Text("mode") != "unary" || o.Text("codec") != "raw":
		return fails("method_streams needs mode=unary, codec=raw and no exchange.stream: it is for messages of another's service")
	case len(setup.Load.Classes) > 0 || setup.Load.Trace != nil || setup.Exchange.Varies():
		return fails("method_streams does not go with classes and sizes that vary: every exchange is the same call")
	case o.Text("verify") == wire.VerifyContent:
		return fails("method_streams needs verify=status or length: the replies are another's")
	case a.expect.ChecksWhole() && f.desc.ServerStreams:
		return fails("verify compares the bodies of replies, and the replies are streams: expected status, length, regexp or not-regexp, of every message")
	}
	return f, nil
}

// messagesOf reads the messages of option body, which are as long together as the exchange
// says: one a line where the method streams its requests.
func messagesOf(body string, setup contract.Setup, o load.Options) ([]content, error) {
	texts := []string{body}
	if streams := o.Text("method_streams"); streams == string(contract.StreamUp) || streams == string(contract.StreamBoth) {
		texts = strings.Split(body, "\n")
	}
	all, n := make([]content, len(texts)), int64(0)
	for i, text := range texts {
		message, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("body is no base64: line %d: %w", i+1, err)
		}
		all[i].bytes = message
		n += int64(len(message))
	}
	if n != setup.Exchange.UpBytes {
		return nil, fmt.Errorf("body: it has %d bytes and the factor request says %d; expected the same", n, setup.Exchange.UpBytes)
	}
	return all, nil
}

// tally counts the bytes of messages that nobody looks at.
type tally int64

// followed makes an RPC of a streaming method for each exchange. The slot's goroutine owns it.
type followed struct {
	*follow
	teller
	ctx      context.Context
	conn     *connection
	method   string
	deadline time.Duration // of each call; 0 for none
	own      bool          // … which is the load's
	first    bool          // the connection's first exchange, which ends with the first reply

	sent  chan error // of a stream both ways, holds one
	reply content    // of a method with one
	bytes tally      // of all replies
	over  bool       // this end ended the call
}

// take has nothing to do: every exchange is the same.
func (k *followed) take(load.Draw) {}

func (k *followed) call() (any, error) {
	ctx, cancel := k.context()
	defer cancel()
	k.bytes, k.over = 0, false
	stream, err := k.conn.NewStream(ctx, &k.desc, k.method)
	if err == nil {
		err = k.converse(ctx, stream, cancel)
	}
	if err != nil && k.own && status.Code(err) == codes.DeadlineExceeded {
		err = httpwire.NoReplyWithin(k.deadline)
	}
	return nil, err
}

func (k *followed) context() (context.Context, context.CancelFunc) {
	if k.deadline > 0 {
		return context.WithTimeout(k.ctx, k.deadline)
	}
	return context.WithCancel(k.ctx)
}

func (k *followed) converse(ctx context.Context, stream grpc.ClientStream, end func()) error {
	if !k.desc.ClientStreams || !k.desc.ServerStreams {
		if err := k.send(ctx, stream); err != nil {
			return err
		}
		return k.receive(stream, end)
	}
	// A server may wait for this end to read before it reads on.
	go func() { k.sent <- k.send(ctx, stream) }()
	err := k.receive(stream, end)
	end() // what is not sent by now
	if failed := <-k.sent; failed != nil && !k.over {
		return failed
	}
	return err
}

// send sends the requests until the call has ended, which receive looks into.
func (k *followed) send(ctx context.Context, to grpc.ClientStream) error {
	due := time.Now()
	for i := range k.messages {
		if i > 0 && k.every > 0 {
			due = due.Add(k.every)
			select {
			case <-time.After(time.Until(due)):
			case <-ctx.Done():
				return nil
			}
		}
		if err := to.SendMsg(&k.messages[i]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return to.CloseSend()
}

// receive takes the replies until the server ends the call, or this end does.
func (k *followed) receive(from grpc.ClientStream, end func()) error {
	if !k.desc.ServerStreams {
		k.begun(from)
		err := from.RecvMsg(&k.reply)
		if errors.Is(err, io.EOF) {
			return ended(k.method)
		} else if err == nil {
			k.bytes = tally(k.reply.came.Len())
			k.came()
		}
		return err
	}
	var timer *time.Timer
	if k.lasts > 0 {
		timer = time.AfterFunc(k.lasts, end)
	}
	k.begun(from)
	err := k.receiveAll(from)
	if timer != nil && !timer.Stop() && status.Code(err) == codes.Canceled {
		k.over, err = true, nil
	}
	return err
}

func (k *followed) receiveAll(from grpc.ClientStream) error {
	for seen := int64(1); ; seen++ {
		if err := k.receiveOne(from); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		k.came()
		if k.first || seen == k.most {
			k.over = true
			return nil
		}
	}
}

// receiveOne takes the next of several replies, and looks at it only where something is
// expected of it.
func (k *followed) receiveOne(from grpc.ClientStream) error {
	if !k.expect.ChecksBodies() {
		return from.RecvMsg(&k.bytes)
	}
	if err := from.RecvMsg(&k.reply); err != nil {
		return err
	}
	k.bytes += tally(k.reply.came.Len())
	return k.expect.Check(k.reply.came.ReadOnlyData())
}

func (k *followed) accept(any) (int64, error) {
	n := int64(k.bytes)
	switch {
	case k.expect.Any && !k.desc.ServerStreams:
		return n, k.expect.Check(k.reply.came.ReadOnlyData())
	case !k.expect.Any && !k.over && n != k.down:
		return n, fmt.Errorf("the replies have %d bytes, expected %d", n, k.down)
	}
	return n, nil
}

// verify has nothing to compare: followOf refuses that.
func (k *followed) verify(int, any) error { return nil }

func (k *followed) release(any) { k.reply.drop() }
func (k *followed) end()        {}
