package baidu

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/baidustd"
)

// shared lets the slots of one connection have calls in flight on it at once. No
// extra goroutine reads the replies: one of the waiting slots has the turn to
// read, hands the others their replies, and passes the turn on when its own reply
// has come. So a single call in flight costs no switch between goroutines.
type shared struct {
	*caller
	conn  *connection
	slots []waiting
	turn  chan struct{} // holds one token: the right to read
	ended error         // ends the reading; the slot that has the turn owns it

	mu      sync.Mutex
	filling *outbox // takes requests
	sending *outbox // is being written, or empty
	busy    bool    // a goroutine writes, or is about to
	failed  error   // ends the writing
	lost    atomic.Bool
}

// waiting is one slot's call in flight.
type waiting struct {
	id     atomic.Int64 // of the call; 0 when there is none
	next   int64        // id of the next call; only the slot's goroutine uses it
	answer chan answer  // one at most
}

// answer is the outcome of a call.
type answer struct {
	received int64
	err      error
}

func newShared(c *caller, conn *connection, slots int) *shared {
	s := &shared{
		caller: c, conn: conn, slots: make([]waiting, slots), turn: make(chan struct{}, 1),
		filling: &outbox{copied: conn.copied}, sending: &outbox{copied: conn.copied},
	}
	// The ids of a slot increase by the number of slots, so an id tells the slot.
	// They begin after the id that verified the connection.
	n := int64(slots)
	first := (conn.id/n + 1) * n
	for i := range s.slots {
		s.slots[i].next = first + int64(i)
		s.slots[i].answer = make(chan answer, 1)
	}
	s.turn <- struct{}{}
	return s
}

// exchange makes one exchange of a slot and checks the reply.
func (s *shared) exchange(slot int) (int64, error) {
	w := &s.slots[slot]
	id := w.next
	w.next += int64(len(s.slots))
	w.id.Store(id)
	if err := s.send(id); err != nil {
		return 0, err
	}
	for {
		select {
		case a := <-w.answer:
			return a.received, a.err
		case <-s.turn:
			err := s.readReplies(w)
			s.turn <- struct{}{}
			if err != nil {
				return 0, err
			}
		}
	}
}

// readReplies hands out replies until w has its own, and then those that have come
// already. The caller holds the turn.
func (s *shared) readReplies(w *waiting) error {
	for s.ended == nil && (len(w.answer) == 0 || s.conn.frames.Whole()) {
		f, err := s.conn.frames.Next()
		if err == nil {
			err = s.deliver(f)
		}
		s.ended = err
	}
	if len(w.answer) > 0 {
		return nil // the next reader meets the same end
	}
	return s.fail(s.ended)
}

// deliver checks a reply and hands it to the slot whose call it answers.
func (s *shared) deliver(f baidustd.Frame) error {
	id := f.Meta.CorrelationID
	w := &s.slots[uint64(id)%uint64(len(s.slots))]
	if id == 0 || !w.id.CompareAndSwap(id, 0) {
		return fmt.Errorf("%w: a reply to call %d, which was not made", baidustd.ErrMalformed, id)
	}
	a := answer{err: refused(f.Meta)}
	if a.err == nil {
		a.received, a.err = s.accept(f)
	}
	w.answer <- a
	return nil
}

// fail closes the connection. Only the first slot that meets its end returns the
// reason; the others return that it was lost.
func (s *shared) fail(err error) error {
	_ = s.conn.Close() // the reason is the error to report
	if s.lost.Swap(true) {
		return load.Failure(contract.Peer, errors.New("the connection was lost"))
	}
	return failure(err)
}

// send writes a request. While another goroutine writes, requests are gathered
// for the next write.
func (s *shared) send(id int64) error {
	s.mu.Lock()
	if s.failed != nil {
		s.mu.Unlock()
		return s.fail(s.failed)
	}
	m := s.request(id)
	err := s.filling.addFrame(&m, s.content)
	first := err == nil && !s.busy
	if first {
		s.busy = true
		err = s.writeRequests()
	}
	behind := first && s.busy
	s.mu.Unlock()
	switch {
	case first && err != nil:
		return s.fail(err)
	case err != nil:
		return invalid(err)
	case behind:
		// The gathered requests must not wait, and this slot must not write them
		// while its own reply comes in. brpc has KeepWrite for the same reason.
		go s.keepWriting()
	}
	return nil
}

// writeRequests makes one write of what has been gathered. The caller holds mu; it is
// released during the write. busy stays set while there is more.
func (s *shared) writeRequests() error {
	s.filling, s.sending = s.sending, s.filling
	s.mu.Unlock()
	err := s.sending.flush(s.conn)
	s.mu.Lock()
	s.failed = err
	s.busy = err == nil && s.filling.size() > 0
	return err
}

// keepWriting writes until no gathered request is left.
func (s *shared) keepWriting() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.busy {
		if s.writeRequests() != nil {
			_ = s.conn.Close() // so that waiting slots learn of it
		}
	}
}
