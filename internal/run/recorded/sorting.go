package recorded

import (
	"fmt"

	"netdyno/internal/traffic"
)

// mostHeld is how many requests wait to be put in order: a server writes a request when
// it ends, and a log of whole seconds is placed anew within each. They take 16 MB.
const mostHeld = 1 << 18

// sorting writes requests in the order of their times. Those of the same time keep their
// order. One goroutine uses it.
type sorting struct {
	to          *traffic.Writer
	heap        []held
	taken       uint64
	latest      int64 // that a log told, ns since 1970
	first, last int64 // of what was written
	written     int64
	sorted      int64 // were taken after a later one
	err         error
}

type held struct {
	at     int64
	number uint64
	of     traffic.Request
}

func (h held) before(o held) bool { return h.at < o.at || h.at == o.at && h.number < o.number }

// late tells whether a time, in ns since 1970, is earlier than what was written already.
func (s *sorting) late(at int64) bool { return s.written > 0 && at < s.last }

// add takes a request that came at a time that is not late; its log tells it less exactly.
func (s *sorting) add(told, at int64, r traffic.Request) {
	if s.taken > 0 && told < s.latest {
		s.sorted++
	}
	s.latest = max(told, s.latest)
	s.taken++
	s.push(held{at, s.taken, r})
	if len(s.heap) > mostHeld {
		s.pop()
	}
}

func (s *sorting) push(h held) {
	s.heap = append(s.heap, h)
	i := len(s.heap) - 1
	for ; i > 0 && h.before(s.heap[(i-1)/2]); i = (i - 1) / 2 {
		s.heap[i] = s.heap[(i-1)/2]
	}
	s.heap[i] = h
}

// pop writes the earliest request.
func (s *sorting) pop() {
	first, last := s.heap[0], s.heap[len(s.heap)-1]
	s.heap = s.heap[:len(s.heap)-1]
	i, n := 0, len(s.heap)
	for 2*i+1 < n {
		child := 2*i + 1
		if child+1 < n && s.heap[child+1].before(s.heap[child]) {
			child++
		}
		if last.before(s.heap[child]) {
			break
		}
		s.heap[i] = s.heap[child]
		i = child
	}
	if n > 0 {
		s.heap[i] = last
	}
	s.write(first)
}

func (s *sorting) write(h held) {
	if s.written == 0 {
		s.first = h.at
	}
	s.last = h.at
	s.written++
	h.of.AtNs = h.at - s.first
	if err := s.to.Add(h.of); err != nil && s.err == nil {
		s.err = fmt.Errorf("write what was recorded: %w", err)
	}
}

// flush writes what is held, and the end.
func (s *sorting) flush() error {
	for len(s.heap) > 0 && s.err == nil {
		s.pop()
	}
	if s.err != nil {
		return s.err
	}
	return s.to.Close()
}
