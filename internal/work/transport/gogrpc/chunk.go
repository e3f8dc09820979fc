package gogrpc

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/netdynov1"
)

// defaultChunk is the size of a chunk where the trial names none.
const defaultChunk = 64 << 10

func chunkBytes(setup contract.Setup) int64 {
	if n := setup.Exchange.ChunkBytes; n > 0 {
		return n
	}
	return defaultChunk
}

// chunkDesc returns the kind of a stream's method, as the library asks for it.
func chunkDesc(s contract.Stream) *grpc.StreamDesc {
	return &grpc.StreamDesc{
		StreamName:    chunkMethods[s],
		ClientStreams: s != contract.StreamDown,
		ServerStreams: s != contract.StreamUp,
	}
}

// chunker cuts content into a stream's messages and joins them again. One
// goroutine at a time uses it.
type chunker struct {
	raw   bool // chunks travel as they are, else in Blocks
	chunk int
	block netdynov1.Block
	part  content
	whole assembly
	room  []byte // to encode into
}

// stream is what the library's client and server streams have in common.
type stream interface {
	SendMsg(any) error
	RecvMsg(any) error
}

// send sends data whole in one message, or cut into chunks. Empty content is
// one empty message, so that there is one to wait for. It is written before
// send returns, unless chunks travel raw.
func (c *chunker) send(to stream, data []byte, cut bool) error {
	size := len(data)
	if cut {
		size = c.chunk
	}
	for first := true; first || len(data) > 0; first = false {
		n := min(size, len(data))
		if err := to.SendMsg(c.message(data[:n])); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

func (c *chunker) message(data []byte) any {
	if c.raw {
		c.part.bytes = data
		return &c.part
	}
	c.block.Content = data
	return &c.block
}

// receive joins one message or, when cut, all until the peer has finished.
func (c *chunker) receive(from stream, cut bool) error {
	for {
		err := c.receiveOne(from)
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
		return from.RecvMsg(&c.whole)
	}
	if err := from.RecvMsg(&c.block); err != nil {
		return err
	}
	return c.whole.add(c.block.GetContent())
}

// assembly is one contiguous buffer of the size that is expected.
type assembly struct {
	room []byte
	n    int
}

// bytes returns what was joined, until the chunker is given back.
func (a *assembly) bytes() []byte { return a.room[:a.n] }

func (a *assembly) add(chunk []byte) error {
	if err := a.fits(len(chunk)); err != nil {
		return err
	}
	a.n += copy(a.room[a.n:], chunk)
	return nil
}

// addAll joins a chunk that the library holds in several pieces.
func (a *assembly) addAll(chunk mem.BufferSlice) error {
	if err := a.fits(chunk.Len()); err != nil {
		return err
	}
	a.n += chunk.CopyTo(a.room[a.n:])
	return nil
}

func (a *assembly) fits(n int) error {
	if a.n+n > len(a.room) {
		return load.Failure(contract.Invalid, fmt.Errorf("the stream holds more than the %d bytes expected", len(a.room)))
	}
	return nil
}

// chunkers pools the chunkers of an end, each with a buffer of the size that it
// receives. Any goroutine may use it.
type chunkers struct {
	raw   bool
	chunk int
	size  int64
	free  sync.Pool
}

func newChunkers(setup contract.Setup, o load.Options, receives int64) *chunkers {
	return &chunkers{raw: o.Text("codec") == "raw", chunk: int(chunkBytes(setup)), size: receives}
}

func (p *chunkers) take() *chunker {
	c, ok := p.free.Get().(*chunker)
	if !ok {
		c = &chunker{raw: p.raw, chunk: p.chunk}
		c.whole.room = make([]byte, p.size)
	}
	c.whole.n = 0
	return c
}

func (p *chunkers) give(c *chunker) { p.free.Put(c) }
