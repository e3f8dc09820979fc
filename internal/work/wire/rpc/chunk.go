package rpc

import (
	"cmp"
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/netdynov1"
)

// defaultChunk is the size of a chunk where the trial names none, in bytes.
const defaultChunk = 64 << 10

// ChunkBytes returns the size of a stream's chunks.
func ChunkBytes(setup contract.Setup) int64 { return cmp.Or(setup.Exchange.ChunkBytes, defaultChunk) }

// Chunker cuts content into a stream's messages, and joins the messages that arrive in
// one contiguous buffer. One goroutine may cut while another joins.
type Chunker struct {
	Room []byte // for the caller to encode into, kept from one exchange to the next

	size   int
	block  netdynov1.Block
	buffer []byte // of the size that is expected
	joined int
}

// NewChunker makes the chunker of an end that receives so many bytes in an exchange.
func NewChunker(setup contract.Setup, receives int64) *Chunker {
	return &Chunker{size: int(ChunkBytes(setup)), buffer: make([]byte, receives)}
}

// Cut hands content to send piece by piece, empty content as one empty piece, and
// stops at the first error. The pieces point into content.
func (c *Chunker) Cut(content []byte, send func(piece []byte) error) error {
	for first := true; first || len(content) > 0; first = false {
		n := min(c.size, len(content))
		if err := send(content[:n]); err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}

// Block returns a message that holds piece, until the next call.
func (c *Chunker) Block(piece []byte) *netdynov1.Block {
	c.block.Content = piece
	return &c.block
}

// Begin forgets what was joined: the next chunk is the first of an exchange.
func (c *Chunker) Begin() { c.joined = 0 }

// Join adds a chunk that came. The error is of kind invalid: more came than the
// exchange has.
func (c *Chunker) Join(chunk []byte) error {
	to, err := c.Extend(len(chunk))
	copy(to, chunk)
	return err
}

// Extend adds n bytes that the caller fills in. The error is as Join's.
func (c *Chunker) Extend(n int) ([]byte, error) {
	if n > len(c.buffer)-c.joined {
		return nil, load.Failure(contract.Invalid, fmt.Errorf("the stream holds more than the %d bytes expected", len(c.buffer)))
	}
	c.joined += n
	return c.buffer[c.joined-n : c.joined], nil
}

// Joined returns what has come since Begin. It is overwritten after the next Begin.
func (c *Chunker) Joined() []byte { return c.buffer[:c.joined] }
