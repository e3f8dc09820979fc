package gonet

import (
	"net"
	"sync"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// server accepts, and serves each connection on a goroutine of its own.
type server struct {
	*plan
	listeners *wire.Listeners
	wait      sync.WaitGroup

	mu   sync.Mutex
	open map[*connection]struct{}
	gone contract.Counts // of connections that have ended
}

// connection is one accepted connection and its counts, each written by one
// goroutine only.
type connection struct {
	*link
	trial          wire.Trial // of wire stream
	received, sent atomic.Int64
}

// Server implements load.Transport.
func (Transport) Server(setup contract.Setup) (load.Server, error) {
	p, err := newPlan(setup)
	if err != nil {
		return nil, err
	}
	listeners, err := wire.Listen(setup)
	if err != nil {
		return nil, err
	}
	s := &server{plan: p, listeners: listeners, open: map[*connection]struct{}{}}
	for _, l := range listeners.All() {
		s.wait.Go(func() { s.accept(l) })
	}
	return s, nil
}

func (s *server) accept(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return // closed
		}
		equipped, err := s.link(c, &s.work.Down)
		if err != nil {
			_ = c.Close() // out of descriptors: the client sees its connection fail
			continue
		}
		conn := &connection{link: equipped}
		s.mu.Lock()
		s.open[conn] = struct{}{}
		s.mu.Unlock()
		s.wait.Go(func() { s.serve(conn) })
	}
}

// serve ends when the client has finished, or broke the connection: such a
// failure is its own to count.
func (s *server) serve(c *connection) {
	defer s.forget(c)
	switch {
	case s.work.BothWays():
		s.streamBoth(c)
	case s.work.Streams():
		s.stream(c)
	case s.options.Text(optionEcho) == echoSplice:
		s.echoSpliced(c)
	default:
		s.echo(c)
	}
}

func (s *server) forget(c *connection) {
	_ = c.Close() // nothing is left to write
	c.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.add(&s.gone, c)
	delete(s.open, c)
}

// add counts a connection in.
func (s *server) add(counts *contract.Counts, c *connection) {
	received, sent := c.received.Load(), c.sent.Load()
	counts.ReceivedBytes += received
	counts.SentBytes += sent
	if s.work.Streams() {
		counts.Exchanges += s.work.Exchanges(received, sent)
	}
}

// Ready implements load.Server.
func (s *server) Ready() contract.Ready {
	return contract.Ready{Addresses: s.listeners.Addresses(), Options: s.options}
}

// Exited implements load.Exiter.
func (s *server) Exited() <-chan error { return s.listeners.Exited() }

// Counts implements load.Server.
func (s *server) Counts() contract.Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := s.gone
	for c := range s.open {
		s.add(&counts, c)
	}
	counts.Connections = int64(len(s.open))
	if !s.work.Streams() {
		counts.Exchanges = s.work.Exchanges(counts.ReceivedBytes, counts.SentBytes)
	}
	return counts
}

// Close implements load.Server.
func (s *server) Close() error {
	s.close()
	s.listeners.Close() // ends every accept and every connection's goroutine
	s.wait.Wait()
	return nil
}
