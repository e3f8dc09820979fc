package recorded

import (
	"container/heap"
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
	heap        waiting
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

// waiting implements heap.Interface, the earliest first.
type waiting []held

func (w waiting) Len() int      { return len(w) }
func (w waiting) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w waiting) Less(i, j int) bool {
	return w[i].at < w[j].at || w[i].at == w[j].at && w[i].number < w[j].number
}

func (w *waiting) Push(x any) { *w = append(*w, x.(held)) }

func (w *waiting) Pop() any {
	all := *w
	last := all[len(all)-1]
	*w = all[:len(all)-1]
	return last
}

// late tells whether a time, in ns since 1970, is earlier than what was written already.
func (s *sorting) late(at int64) bool { return s.written > 0 && at < s.last }

// add takes a request that came at a time that is not late; its log tells it less exactly.
func (s *sorting) add(told, at int64, r traffic.Request) {
	if s.taken > 0 && told < s.latest {
		s.sorted++
	}
	s.latest = max(told, s.latest)
	s.taken++
	heap.Push(&s.heap, held{at, s.taken, r})
	if len(s.heap) > mostHeld {
		s.pop()
	}
}

// pop writes the earliest request.
func (s *sorting) pop() { s.write(heap.Pop(&s.heap).(held)) }

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
