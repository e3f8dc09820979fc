package wire

import (
	"cmp"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
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

// Paced sends replies message by message. Any goroutine may use it.
type Paced struct {
	size, every int64
	pace        load.Pace
}

// PacedOf returns what sends the replies of an exchange; nil where they travel whole.
func PacedOf(x contract.Exchange) *Paced {
	if x.Stream != contract.StreamDown {
		return nil
	}
	return &Paced{size: MessagesOf(x).Size, every: x.EveryNs}
}

// Send hands a reply to send: the first message now, the others on their schedule, and empty
// content as one empty message. It stops at the first error. A nil Paced sends it whole.
func (p *Paced) Send(reply []byte, send func(message []byte) error) error {
	if p == nil {
		return send(reply)
	}
	due := load.Now()
	for first := true; first || len(reply) > 0; first = false {
		if !first && p.every > 0 {
			due += p.every
			p.pace.Until(due)
		}
		n := min(p.size, int64(len(reply)))
		if err := send(reply[:n]); err != nil {
			return err
		}
		reply = reply[n:]
	}
	return nil
}
