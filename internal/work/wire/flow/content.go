package flow

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Content is what each message of one direction contains: a block, repeated from
// the message's first byte on. It never changes, so any goroutine may use it.
type Content struct {
	Bytes  int64  // of one message, at least 1
	Block  []byte // no longer than a message, or else its beginning is all that is used
	copies []byte // of the block, one behind the other, where it is spread
}

// spread is the memory that copies of a spread block take: more than caches hold. Blocks of less
// than leastSpread are not spread.
const spread, leastSpread = 256 << 20, 4 << 10

// Spread has the block copied until it takes so much memory that what is sent does not lie in the
// cache. The memory is not the garbage collector's, whose pace it would change.
func (c *Content) Spread() error {
	block := len(c.Block)
	if block < leastSpread || spread < 2*block {
		return nil
	}
	copies, err := unix.Mmap(-1, 0, spread/block*block, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("take %d bytes for option content: %w", spread, err)
	}
	for at := 0; at < len(copies); at += block {
		copy(copies[at:], c.Block)
	}
	c.copies = copies
	return nil
}

// From is Part in copy number n of the block, modulo their number.
func (c *Content) From(n uint64, at, size int64) []byte {
	if c.copies == nil {
		return c.Part(at, size)
	}
	block := int64(len(c.Block))
	base := int64(n%uint64(int64(len(c.copies))/block)) * block
	from := base + at%block
	return c.copies[from:min(base+block, from+size-at)]
}

// After returns the copy to send from once the first at bytes of a message of that size have gone, the
// last of them from copy n.
func (c *Content) After(n uint64, at, size int64) uint64 {
	if c.copies != nil && (at == size || at%int64(len(c.Block)) == 0) {
		return n + 1
	}
	return n
}

// First returns the copy that connection number i begins with: connections lie far from each other.
func (c *Content) First(i int64) uint64 {
	if c.copies == nil {
		return 0
	}
	const golden = 0.6180339887498949 // whatever their number, they are about evenly spread
	_, turn := math.Modf(float64(i) * golden)
	return uint64(turn * float64(len(c.copies)/len(c.Block)))
}

// Piece returns the bytes of a message from position at on, as far as one copy of
// the block reaches, without copying them. It is empty only at the message's end.
func (c *Content) Piece(at int64) []byte { return c.Part(at, c.Bytes) }

// Part is Piece for a message of another size, no larger than Bytes.
func (c *Content) Part(at, size int64) []byte {
	from := at % int64(len(c.Block))
	return c.Block[from:min(int64(len(c.Block)), from+size-at)]
}

// Sum returns the CRC-32C of one message; it reads the whole of it.
func (c *Content) Sum() uint32 {
	sum := uint32(0)
	for at := int64(0); at < c.Bytes; {
		piece := c.Piece(at)
		sum = crc32.Update(sum, castagnoli, piece)
		at += int64(len(piece))
	}
	return sum
}

// splitmix64 continues the generator at state (Steele, Lea, Flood: Fast
// splittable pseudorandom number generators, OOPSLA 2014).
func splitmix64(state *uint64) uint64 {
	*state += 0x9e3779b97f4a7c15
	z := *state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// streamContent returns the content of one direction of wire stream; its generator
// begins at state (contract/vectors/stream.json).
func streamContent(bytes, chunk int64, state uint64) Content {
	block := make([]byte, min(bytes, chunk)+7) // whole words
	for i := 0; i+8 <= len(block); i += 8 {
		binary.LittleEndian.PutUint64(block[i:], splitmix64(&state))
	}
	return Content{Bytes: bytes, Block: block[:min(bytes, chunk):min(bytes, chunk)]}
}

// Verifier compares the first message that comes in on a connection with the
// expected one, by CRC-32C. It takes the message in pieces. One goroutine uses it.
type Verifier struct {
	content *Content
	want    uint32
	got     uint32
	came    int64
}

// Left returns how many bytes of the message have not come yet.
func (v *Verifier) Left() int64 { return v.content.Bytes - v.came }

// Add takes the next bytes, no more than Left.
func (v *Verifier) Add(piece []byte) {
	v.got = crc32.Update(v.got, castagnoli, piece)
	v.came += int64(len(piece))
}

// Err returns an error of kind invalid unless the whole message has come and is
// the expected one.
func (v *Verifier) Err(connection int) error {
	if v.Left() == 0 && v.got == v.want {
		return nil
	}
	return load.Failure(contract.Invalid, fmt.Errorf(
		"verify connection %d: received %d bytes with CRC-32C %08x, expected %d with %08x: the peer sends other content",
		connection, v.came, v.got, v.content.Bytes, v.want))
}
