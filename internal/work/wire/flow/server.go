package flow

import (
	"bytes"
	"sync"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Server is a server's end of one connection. One goroutine may receive while
// another writes, on wire stream.
type Server struct {
	work    *Work
	traffic *Traffic
	own     Traffic // where traffic is this flow's alone

	// Wire stream.
	verifier Verifier // of the first message up
	received atomic.Int64
	sent     int64
	at       int64  // bytes sent of the message under way; 0 between two
	copy     uint64 // of the content's block, from which it goes out

	pending []byte // wire echo: what came and is not written yet

	// Work for each exchange.
	part  int64           // bytes of the message that is coming
	later func(due int64) // of an event loop: calls Awake then; nil where the caller may sleep
	held  bool            // until Awake

	due int64 // when the message under way was to leave, of a paced reply
}

// NewServer returns the flow of an accepted connection. What it moves is counted
// in traffic too.
func NewServer(work *Work, traffic *Traffic) *Server {
	return &Server{work: work, traffic: traffic, verifier: work.verifyUp(), copy: work.Down.First(work.flows.Add(1))}
}

// SleepBy makes a flow that an event loop serves ask for a call of Awake at an instant on
// the clock of load.Now, in place of sleeping itself.
func (s *Server) SleepBy(later func(due int64)) { s.later = later }

// Awake ends the sleep of the exchange at work, or between two messages of its reply; what is
// next of the reply is to be written then.
func (s *Server) Awake() { s.held = false }

// serve does the server's work for a message of which n bytes more have come, when that is
// all of it.
func (s *Server) serve(n int64) {
	service := s.work.service
	if service == nil {
		return
	}
	if s.part += n; s.part < s.work.Up.Bytes {
		return
	}
	s.part = 0
	if s.later != nil && service.Sleeps() {
		if ns := service.Next(); ns > 0 {
			s.held = true
			s.later(load.Now() + ns)
		}
		return
	}
	service.Serve()
}

// Begin implements Flow.
func (s *Server) Begin() {}

// Unsent implements Flow.
func (s *Server) Unsent() bool {
	if s.held {
		return false
	}
	if !s.work.Streams() {
		return len(s.pending) > 0
	}
	return s.sent < s.work.Owed(s.received.Load())
}

// Outgoing implements Flow.
func (s *Server) Outgoing() []byte {
	if !s.work.Streams() {
		return s.pending
	}
	piece, owed := s.work.Down.From(s.copy, s.at, s.work.Down.Bytes), s.work.Owed(s.received.Load())-s.sent
	if s.work.every > 0 {
		owed = min(owed, s.work.replies.Missing(s.at))
	}
	return piece[:min(int64(len(piece)), owed)]
}

// Written implements Flow.
func (s *Server) Written(n int) {
	s.traffic.sent.Add(int64(n))
	if !s.work.Streams() {
		s.pending = s.pending[n:]
		return
	}
	if s.at == 0 && s.work.every > 0 {
		s.due = load.Now()
	}
	s.sent += int64(n)
	s.at += int64(n)
	s.copy = s.work.Down.After(s.copy, s.at, s.work.Down.Bytes)
	if s.at == s.work.Down.Bytes {
		s.at = 0
		s.traffic.exchanges.Add(1)
		return
	}
	s.pace()
}

// pace waits until the next message of a paced reply is due, once one has gone.
func (s *Server) pace() {
	if s.work.every == 0 || s.at%s.work.replies.Size != 0 {
		return
	}
	s.due += s.work.every
	switch {
	case s.later == nil:
		s.work.pace.Until(s.due)
	case s.due > load.Now():
		s.held = true
		s.later(s.due)
	}
}

// Missing implements Flow. On wire echo a server does not see where a message ends.
func (s *Server) Missing() int64 {
	if !s.work.Streams() {
		return 1
	}
	return s.work.Up.Bytes - s.received.Load()%s.work.Up.Bytes
}

// Limit implements Flow. The first message of wire stream is read by itself, and each one
// that is worked for.
func (s *Server) Limit(most int) int {
	if s.held {
		return 0
	}
	if s.work.service != nil {
		most = int(min(int64(most), s.work.Up.Bytes-s.part))
	}
	if !s.work.Streams() {
		if len(s.pending) > 0 {
			return 0
		}
		return most
	}
	if left := s.verifier.Left(); left > 0 {
		return int(min(left, int64(most)))
	}
	return most
}

// Received implements Flow.
func (s *Server) Received(piece []byte) error {
	n := int64(len(piece))
	s.traffic.received.Add(n)
	s.serve(n)
	if !s.work.Streams() {
		s.pending = piece
		return nil
	}
	if s.verifier.Left() > 0 {
		if s.verifier.Add(piece); s.verifier.Left() == 0 {
			if err := s.verifier.Err(0); err != nil {
				return err
			}
		}
	}
	s.received.Add(n)
	return nil
}

// Keep implements Flow.
func (s *Server) Keep() {
	if len(s.pending) > 0 {
		s.pending = bytes.Clone(s.pending)
	}
}

// Abandon implements Flow: exchanges are the client's to count.
func (s *Server) Abandon(error) {}

// Served are a server's open flows and the sums of the ended ones. Each flow has counters
// of its own, so that flows on different CPUs share none. Any goroutine may use a Served.
type Served struct {
	work *Work
	mu   sync.Mutex
	open map[*Server]struct{}
	gone contract.Counts
}

// NewServed returns an empty one.
func NewServed(work *Work) *Served { return &Served{work: work, open: map[*Server]struct{}{}} }

// Begin returns the flow of an accepted connection.
func (s *Served) Begin() *Server {
	f := NewServer(s.work, nil)
	f.traffic = &f.own
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[f] = struct{}{}
	return f
}

// End takes out the flow of a connection that has ended.
func (s *Served) End(f *Server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.open[f]; open {
		f.own.addTo(&s.gone)
		delete(s.open, f)
	}
}

// Counts returns the sums over all flows, and how many are open.
func (s *Served) Counts() contract.Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := s.gone
	for f := range s.open {
		f.own.addTo(&counts)
	}
	counts.Connections = int64(len(s.open))
	s.work.complete(&counts)
	return counts
}
