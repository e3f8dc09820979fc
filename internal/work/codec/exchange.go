package codec

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/work/load"
)

// MaxContent bounds the bytes of one direction before they are allocated.
const MaxContent = contract.MaxMessage

// New makes the content of a trial with the codec that it names, one of
// codecs. The error has the contract's kind: unsupported for a codec that is
// not among them, setup for impossible content.
func New(setup contract.Setup, codecs []Codec) (*Exchange, error) {
	x, err := newExchange(setup, codecs)
	if err != nil {
		return nil, err
	}
	if x.service, err = load.ServiceOf(setup); err != nil {
		return nil, err
	}
	return x, x.vary(setup)
}

// Work does a server's work for an exchange whose request is read. Respond does it too.
func (x *Exchange) Work() { x.service.Serve() }

// Works reports whether a server has any.
func (x *Exchange) Works() bool { return x.service != nil }

func newExchange(setup contract.Setup, codecs []Codec) (*Exchange, error) {
	e := setup.Exchange
	if e.Codec == "" || e.Codec == Bytes {
		return newBytes(e)
	}
	if e.Message == nil {
		return nil, load.Failure(contract.SetupFailed, fmt.Errorf("exchange.codec is %s and exchange.message is absent: expected what to encode", e.Codec))
	}
	types, err := NewTypes(e.Message.Descriptors)
	if err != nil {
		return nil, load.Failure(contract.SetupFailed, fmt.Errorf("exchange.message.descriptors: %w", err))
	}
	x := &Exchange{}
	if x.Codec, err = named(e.Codec, codecs); err != nil {
		return nil, load.Failure(contract.Unsupported, err)
	}
	for _, d := range []struct {
		name    string
		content contract.Content
		kind    *Kind
		size    *int64
	}{{"up", e.Message.Up, &x.Up, &x.UpBytes}, {"down", e.Message.Down, &x.Down, &x.DownBytes}} {
		if *d.kind, err = x.Codec.Kind(types, d.content); err == nil {
			*d.size, err = x.roundTrip(*d.kind)
		}
		if err != nil {
			return nil, load.Failure(contract.SetupFailed, fmt.Errorf("exchange.message.%s (%s): %w", d.name, e.Codec, err))
		}
	}
	return x, nil
}

// Names lists what a transport with these codecs says in hello.
func Names(codecs []Codec) []string {
	names := []string{Bytes}
	for _, c := range codecs {
		names = append(names, c.Name())
	}
	return names
}

func named(name string, codecs []Codec) (Codec, error) {
	for _, c := range codecs {
		if c.Name() == name {
			return c, nil
		}
	}
	return nil, fmt.Errorf("no codec %q here; %s", name, quantity.Hint(name, Names(codecs)))
}

// roundTrip encodes a content once and decodes it again. Content that changes by
// that would make every exchange of the trial invalid.
func (x *Exchange) roundTrip(k Kind) (int64, error) {
	data, err := Encode(x.Codec, nil, k.Content)
	if err != nil {
		return 0, fmt.Errorf("encode: %w", err)
	}
	back := k.New()
	if err := Decode(x.Codec, data, back); err != nil {
		return 0, fmt.Errorf("decode what was encoded: %w", err)
	}
	if !k.Same(back) {
		return 0, errors.New("decodes to another message than was encoded")
	}
	return int64(len(data)), nil
}

func newBytes(e contract.Exchange) (*Exchange, error) {
	for _, d := range []struct {
		name string
		n    int64
	}{{"up_bytes", e.UpBytes}, {"down_bytes", e.DownBytes}} {
		if d.n < 0 || d.n > MaxContent {
			return nil, load.Failure(contract.SetupFailed, fmt.Errorf("exchange.%s is %d, expected 0 to %d", d.name, d.n, MaxContent))
		}
	}
	return &Exchange{
		UpBytes: e.UpBytes, DownBytes: e.DownBytes,
		up: random(e.UpBytes, 'u'), down: random(e.DownBytes, 'd'),
	}, nil
}

// Structured reports whether contents are messages that a codec encodes.
func (x *Exchange) Structured() bool { return x.Codec != nil }

// MediaType is what HTTP calls the content.
func (x *Exchange) MediaType() string {
	if x.Codec == nil {
		return "application/octet-stream"
	}
	return x.Codec.MediaType()
}

// Request returns what the client sends: encoded into buf's room, or the
// content of codec bytes itself, which is not to be changed.
func (x *Exchange) Request(buf []byte) ([]byte, error) {
	if x.Codec == nil {
		return x.up, nil
	}
	return Encode(x.Codec, buf[:0], x.Up.Content)
}

// Respond takes a request, does the work for it and returns the reply, as Request does. The
// error says what was wrong with the request.
func (x *Exchange) Respond(buf, request []byte) ([]byte, error) {
	if x.Codec == nil {
		if err := sized("the request", len(request), x.UpBytes, x.upVaries); err != nil {
			return nil, err
		}
		x.Work()
		return x.down, nil
	}
	if err := Decode(x.Codec, request, x.Up.New()); err != nil {
		return nil, fmt.Errorf("decode the request: %w", err)
	}
	x.Work()
	return Encode(x.Codec, buf[:0], x.Down.Content)
}

// Accept checks a reply as an application does: it decodes the reply, or with codec
// bytes compares its size. The error says what was wrong.
func (x *Exchange) Accept(reply []byte) error {
	if x.Codec == nil {
		return sized("the reply", len(reply), x.DownBytes, false)
	}
	if err := Decode(x.Codec, reply, x.Down.New()); err != nil {
		return fmt.Errorf("decode the reply: %w", err)
	}
	return nil
}

// Verify compares a reply with the expected content, before the window. The error is of kind invalid and names the connection.
func (x *Exchange) Verify(connection int, reply []byte) error {
	err := x.Accept(reply)
	switch {
	case err != nil:
	case x.Codec == nil:
		if want, got := crc32.Checksum(x.down, castagnoli), crc32.Checksum(reply, castagnoli); want != got {
			err = fmt.Errorf("expected %d bytes with CRC-32C %08x, received them with %08x", x.DownBytes, want, got)
		}
	default:
		message := x.Down.New()
		if err = Decode(x.Codec, reply, message); err == nil && !x.Down.Same(message) {
			err = errOtherValues
		}
	}
	if err != nil {
		return load.Failure(contract.Invalid, fmt.Errorf("verify connection %d: %w", connection, err))
	}
	return nil
}

// Contents returns the bytes of both directions of codec bytes, not to be
// changed; empty for other codecs.
func (x *Exchange) Contents() (up, down []byte) { return x.up, x.down }

// Setup returns setup with the sizes of the encoded messages, for load.New.
func (x *Exchange) Setup(setup contract.Setup) contract.Setup {
	setup.Exchange.UpBytes, setup.Exchange.DownBytes = x.UpBytes, x.DownBytes
	return setup
}

// Sizes fills in what ready reports about the messages: their sizes, and whether
// the user's are generated code.
func (x *Exchange) Sizes(ready contract.Ready) contract.Ready {
	if x.Codec != nil {
		ready.UpBytes, ready.DownBytes = x.UpBytes, x.DownBytes
		ready.Generated = x.Up.Generated && x.Down.Generated
	}
	return ready
}

// errOtherValues says that a message decodes, but not to the expected content.
var errOtherValues = errors.New("the message has other values than expected")

// sized compares the size of what was received with the one expected, or where it may
// vary with the largest.
func sized(what string, got int, want int64, varies bool) error {
	switch n := int64(got); {
	case varies && n > want:
		return fmt.Errorf("%s has %d bytes, expected at most %d", what, got, want)
	case !varies && n != want:
		return fmt.Errorf("%s has %d bytes, expected %d", what, got, want)
	}
	return nil
}

// Standard are the codecs that every worker can afford to link: protobuf by
// its own library and JSON by Go's.
func Standard() []Codec { return slices.Clone([]Codec{Proto{}, JSON{}}) }

// End is an exchange as one end sees it. It is not changed after At; any
// goroutine may use it.
type End struct {
	Out, In           Kind   // of structured messages: what is sent, what is received
	OutBytes, InBytes int64  // of the encoded messages
	Sent              []byte // what is sent with codec bytes, not to be changed; else nil

	incoming string // what errors call a message that is received
	varies   bool   // InBytes is the largest
}

// At returns the exchange as an end of that role sees it.
func (x *Exchange) At(role contract.Role) End {
	if role == contract.Server {
		return End{Out: x.Down, In: x.Up, OutBytes: x.DownBytes, InBytes: x.UpBytes, Sent: x.down, incoming: "the request", varies: x.upVaries}
	}
	return End{Out: x.Up, In: x.Down, OutBytes: x.UpBytes, InBytes: x.DownBytes, Sent: x.up, incoming: "the reply"}
}

// AcceptBytes checks what was received with codec bytes. The error says what was wrong.
func (e *End) AcceptBytes(in []byte) error { return sized(e.incoming, len(in), e.InBytes, e.varies) }

// VerifyMessage compares a decoded message with the expected content. The error is
// of kind invalid and names the connection.
func (e *End) VerifyMessage(connection int, message any) error {
	if e.In.Same(message) {
		return nil
	}
	return load.Failure(contract.Invalid, fmt.Errorf("verify connection %d: %w", connection, errOtherValues))
}
