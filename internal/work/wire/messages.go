package wire

import (
	"cmp"

	"netdyno/internal/contract"
)

// Messages are what a reply travels as: of so many bytes each, the last one shorter.
type Messages struct{ Size, Down int64 }

// MessagesOf are those of an exchange's reply: one, unless it is streamed.
func MessagesOf(x contract.Exchange) Messages {
	if x.Stream != contract.StreamDown {
		return Messages{x.DownBytes, x.DownBytes}
	}
	return Messages{cmp.Or(x.ChunkBytes, DefaultChunk), x.DownBytes}
}

// Ended returns how many end with the bytes of a reply from before on up to came.
func (m Messages) Ended(before, came int64) int64 {
	if m.Size <= 0 {
		return 0
	}
	return m.whole(came) - m.whole(before)
}

// Missing returns how many bytes complete the next one where so many have come.
func (m Messages) Missing(came int64) int64 {
	return min(m.Size-came%m.Size, m.Down-came)
}

func (m Messages) whole(bytes int64) int64 {
	if bytes == m.Down { // the last one is shorter
		return (bytes + m.Size - 1) / m.Size
	}
	return bytes / m.Size
}
