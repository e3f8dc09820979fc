package nethttp

import (
	"cmp"
	"net/http"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// stream writes replies in messages, each of which leaves by itself. Any goroutine may use it.
type stream struct {
	size, every int64
	pace        load.Pace
}

// streamOf returns what writes the replies of an exchange; nil where they travel whole.
func streamOf(x contract.Exchange) *stream {
	if x.Stream != contract.StreamDown {
		return nil
	}
	return &stream{size: cmp.Or(x.ChunkBytes, wire.DefaultChunk), every: x.EveryNs}
}

// write writes a reply: the first message now, the others on their schedule.
func (s *stream) write(w http.ResponseWriter, reply []byte) error {
	flush, due := http.NewResponseController(w).Flush, load.Now()
	for first := true; len(reply) > 0; first = false {
		if !first && s.every > 0 {
			due += s.every
			s.pace.Until(due)
		}
		n := min(s.size, int64(len(reply)))
		if _, err := w.Write(reply[:n]); err != nil {
			return err
		}
		if err := flush(); err != nil {
			return err
		}
		reply = reply[n:]
	}
	return nil
}
