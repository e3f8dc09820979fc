package wire

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Content is what the messages of one direction hold: a block that repeats from
// each message's first byte on. It never changes, so any goroutine may use it,
// and the kernel may keep pages of it.
type Content struct {
	Bytes int64  // of one message, at least 1
	Block []byte // no longer than a message
}

// Piece returns what follows the first at bytes of a message: what is left of
// the message in the block's current turn, without a copy. It is empty at the
// message's end only.
func (c *Content) Piece(at int64) []byte {
	from := at % int64(len(c.Block))
	return c.Block[from:min(int64(len(c.Block)), from+c.Bytes-at)]
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

// streamContent returns the content of wire stream in the direction whose
// generator begins at state.
func streamContent(bytes, chunk int64, state uint64) Content {
	block := make([]byte, min(bytes, chunk)+7) // whole words
	for i := 0; i+8 <= len(block); i += 8 {
		binary.LittleEndian.PutUint64(block[i:], splitmix64(&state))
	}
	return Content{Bytes: bytes, Block: block[:min(bytes, chunk):min(bytes, chunk)]}
}

// Trial compares the first message that comes in on a connection with what had
// to come, by CRC-32C, as its pieces come. One goroutine uses it.
type Trial struct {
	content *Content
	want    uint32
	got     uint32
	came    int64
}

// Left returns how many bytes of the message have not come yet.
func (t *Trial) Left() int64 { return t.content.Bytes - t.came }

// Add takes the next bytes, no more than Left.
func (t *Trial) Add(piece []byte) {
	t.got = crc32.Update(t.got, castagnoli, piece)
	t.came += int64(len(piece))
}

// Fits reports whether the message has come and is what had to come.
func (t *Trial) Fits() bool { return t.Left() == 0 && t.got == t.want }

// Err returns the error of kind invalid that says what came in the place of the
// expected message; nil when it fits.
func (t *Trial) Err(connection int) error {
	if t.Fits() {
		return nil
	}
	return load.Failure(contract.Invalid, fmt.Errorf(
		"verify connection %d: received %d bytes with CRC-32C %08x, expected %d with %08x: the peer sends other content",
		connection, t.came, t.got, t.content.Bytes, t.want))
}
