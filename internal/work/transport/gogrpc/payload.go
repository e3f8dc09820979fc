package gogrpc

import (
	"sync"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/netdynov1"
	"netdyno/internal/work/wire"
)

// payload is what an end passes to the library: the message to send, the value to
// receive into, and the codec for both. Any goroutine may use it.
type payload interface {
	// encoding is the codec to force on the library; nil keeps the library's own.
	encoding() encoding.CodecV2
	// outgoing is what this end sends: the whole content, or so many bytes of it where
	// sizes are drawn. The whole is the same value every time.
	outgoing(bytes int64) any
	// incoming is something to receive into, until release.
	incoming() any
	// accept checks what was received as an application does, and returns its
	// payload bytes; x has the sizes of this exchange. The error says what was wrong with it.
	accept(x *codec.Exchange, in any) (int64, error)
	// verify compares what a client received with the expected content.
	verify(x *codec.Exchange, connection int, in any) error
	// release takes back what incoming returned, also when nothing was received.
	release(in any)
}

// payloadOf returns the payload of a trial at one end. A server asks for nothing.
func payloadOf(setup contract.Setup, x *codec.Exchange, o load.Options, a ask) payload {
	end, pool := x.At(setup.Role), poolOf(o)
	switch {
	case x.Structured():
		if pool == nil {
			pool = mem.DefaultBufferPool()
		}
		return &structured{end: end, out: &envelope{message: end.Out.Content}, codec: structuredCodec{codec: x.Codec, size: int(end.OutBytes), pool: pool}}
	case o.Text("codec") == "raw":
		if pool == nil {
			pool = mem.DefaultBufferPool()
		}
		r := &raws{role: setup.Role, expect: a.expect, out: &content{bytes: end.Sent}, codec: rawCodec{pool, a.subtype}}
		if a.body != nil {
			r.out = &a.body[0]
		}
		return r
	}
	b := &blocks{role: setup.Role, out: &netdynov1.Block{Content: end.Sent}}
	if pool != nil {
		b.codec = protoCodec{pool}
	}
	return b
}

// blocks carries codec bytes in protobuf, as a service with a bytes field does.
type blocks struct {
	role  contract.Role
	out   *netdynov1.Block
	codec encoding.CodecV2
}

func (b *blocks) encoding() encoding.CodecV2 { return b.codec }

func (b *blocks) outgoing(bytes int64) any {
	if bytes == int64(len(b.out.Content)) {
		return b.out
	}
	return &netdynov1.Block{Content: b.out.Content[:bytes]}
}

// incoming makes a new message for each exchange, as generated code does.
func (b *blocks) incoming() any { return new(netdynov1.Block) }

func (b *blocks) accept(x *codec.Exchange, in any) (int64, error) {
	received := in.(*netdynov1.Block).GetContent()
	return int64(len(received)), x.AcceptAt(b.role, received)
}

func (b *blocks) verify(x *codec.Exchange, connection int, in any) error {
	return x.Verify(connection, in.(*netdynov1.Block).GetContent())
}

func (b *blocks) release(any) {}

// raws carries codec bytes without protobuf.
type raws struct {
	role   contract.Role
	expect wire.Expectation // of the replies
	out    *content
	codec  rawCodec
	free   sync.Pool
}

func (r *raws) encoding() encoding.CodecV2 { return r.codec }

func (r *raws) outgoing(bytes int64) any {
	if bytes == int64(len(r.out.bytes)) {
		return r.out
	}
	return &content{bytes: r.out.bytes[:bytes]}
}

func (r *raws) incoming() any {
	if c, ok := r.free.Get().(*content); ok {
		return c
	}
	return new(content)
}

func (r *raws) accept(x *codec.Exchange, in any) (int64, error) {
	received := in.(*content).came.ReadOnlyData()
	if r.expect.Any {
		return int64(len(received)), r.expect.Check(received)
	}
	return int64(len(received)), x.AcceptAt(r.role, received)
}

func (r *raws) verify(x *codec.Exchange, connection int, in any) error {
	return x.Verify(connection, in.(*content).came.ReadOnlyData())
}

func (r *raws) release(in any) {
	in.(*content).drop()
	r.free.Put(in)
}

// structured carries messages that the application encodes by a codec.
type structured struct {
	end   codec.End
	out   *envelope
	codec structuredCodec
	free  sync.Pool
}

func (s *structured) encoding() encoding.CodecV2 { return s.codec }
func (s *structured) outgoing(int64) any         { return s.out }

// incoming holds a new message for each exchange, as an application's does.
func (s *structured) incoming() any {
	e, ok := s.free.Get().(*envelope)
	if !ok {
		e = new(envelope)
	}
	e.message = s.end.In.New()
	return e
}

// accept checks nothing more: the message has been decoded already.
func (s *structured) accept(_ *codec.Exchange, in any) (int64, error) {
	return int64(in.(*envelope).bytes), nil
}

func (s *structured) verify(_ *codec.Exchange, connection int, in any) error {
	return s.end.VerifyMessage(connection, in.(*envelope).message)
}

func (s *structured) release(in any) {
	e := in.(*envelope)
	e.message, e.bytes = nil, 0
	s.free.Put(e)
}
