package gogrpc

import (
	"errors"
	"io"
	"sync"

	"google.golang.org/grpc"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/rpc"
)

// chunkDesc returns the kind of a stream's method, as the library asks for it.
func chunkDesc(s contract.Stream) *grpc.StreamDesc {
	return &grpc.StreamDesc{
		StreamName:    rpc.Chunked(s).Name,
		ClientStreams: s != contract.StreamDown,
		ServerStreams: s != contract.StreamUp,
	}
}

// chunker sends and receives the messages of a stream. One goroutine at a time
// uses it.
type chunker struct {
	*rpc.Chunker
	raw  bool // chunks travel as they are, else in Blocks
	part content
}

// stream is what the library's client and server streams have in common.
type stream interface {
	SendMsg(any) error
	RecvMsg(any) error
}

// send sends data whole in one message, or cut into chunks. It is written before
// send returns, unless chunks travel raw.
func (c *chunker) send(to stream, data []byte, cut bool) error {
	send := func(piece []byte) error { return to.SendMsg(c.message(piece)) }
	if !cut {
		return send(data)
	}
	return c.Cut(data, send)
}

func (c *chunker) message(data []byte) any {
	if c.raw {
		c.part.bytes = data
		return &c.part
	}
	return c.Block(data)
}

// receive joins one message or, when cut, all until the peer has finished.
func (c *chunker) receive(from stream, cut bool, to teller) error {
	for {
		err := c.receiveOne(from)
		if err == nil {
			to.came()
		}
		switch {
		case errors.Is(err, io.EOF) && cut:
			return nil
		case err != nil:
			return err
		case !cut:
			return nil
		}
	}
}

func (c *chunker) receiveOne(from stream) error {
	if c.raw {
		return from.RecvMsg(c.Chunker)
	}
	block := c.Block(nil)
	if err := from.RecvMsg(block); err != nil {
		return err
	}
	return c.Join(block.GetContent())
}

// chunkers pools the chunkers of an end. Any goroutine may use it.
type chunkers struct{ free sync.Pool }

func newChunkers(setup contract.Setup, o load.Options, receives int64) *chunkers {
	p, raw := &chunkers{}, o.Text("codec") == "raw"
	p.free.New = func() any { return &chunker{Chunker: rpc.NewChunker(setup, receives), raw: raw} }
	return p
}

func (p *chunkers) takeChunker() *chunker {
	c := p.free.Get().(*chunker)
	c.Begin()
	return c
}

func (p *chunkers) give(c *chunker) { p.free.Put(c) }
