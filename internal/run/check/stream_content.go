package check

import (
	"encoding/binary"
	"fmt"
	"slices"

	"netdyno/internal/contract"
)

// bulk is the exchange of one case on wire stream, both its messages in full:
// no case moves more than a few MiB. It is written from the page alone, and
// shares no code with the workers that it checks.
type bulk struct {
	exchange contract.Exchange
	up, down []byte
}

// The states from which CONTRACT.md, section Wires, draws the directions.
const (
	upward   = 1
	downward = 2
)

func newBulk(x contract.Exchange) bulk {
	return bulk{x, drawn(x.UpBytes, x.ChunkBytes, upward), drawn(x.DownBytes, x.ChunkBytes, downward)}
}

// drawn returns a message: a block of splitmix64's outputs, little-endian, that
// repeats.
func drawn(bytes, chunk int64, state uint64) []byte {
	if chunk == 0 {
		chunk = 65536
	}
	length := min(bytes, chunk)
	var block []byte
	for int64(len(block)) < length {
		state += 0x9e3779b97f4a7c15
		z := state
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		block = binary.LittleEndian.AppendUint64(block, z^z>>31)
	}
	return slices.Repeat(block[:length], int(bytes/length)+1)[:bytes]
}

// owed returns how many bytes of the answer may come when at bytes of a message
// have gone up.
func (b bulk) owed(at int) int {
	switch {
	case at == len(b.up):
		return len(b.down)
	case at > 0 && b.exchange.Stream == contract.StreamBoth:
		return len(b.down) - 1
	}
	return 0
}

// differs says where received bytes are not the message that was expected.
func differs(what string, got, want []byte) error {
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("byte %d of %d of %s is %#02x, expected %#02x", i, len(want), what, got[i], want[i])
		}
	}
	return nil
}

// shape is what a stream's cases vary.
type shape struct {
	bytes, chunk int64 // of a direction that streams
	inFlight     int
}

// shapes go from a single byte to what no socket buffer holds; chunks that do
// not divide the message, and one larger than it.
var shapes = []shape{{1, 0, 1}, {13, 8, 4}, {1000, 64, 2}, {70_000, 65_536, 1}, {100_000, 1 << 20, 3}, {1 << 20, 4096, 2}}

// exchange returns a shape's exchange in a direction; what does not stream is a
// few bytes.
func (f shape) exchange(direction contract.Stream) contract.Exchange {
	const few = 10
	x := contract.Exchange{Stream: direction, UpBytes: f.bytes, DownBytes: f.bytes, ChunkBytes: f.chunk}
	switch direction {
	case contract.StreamUp:
		x.DownBytes = few
	case contract.StreamDown:
		x.UpBytes = few
	}
	return x
}

func (f shape) String() string {
	return fmt.Sprintf("%d bytes in chunks of %d, %d in flight", f.bytes, f.chunk, f.inFlight)
}
