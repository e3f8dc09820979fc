// Package gonet is transport go-net: the net package as most Go programs use
// it, one goroutine for each connection. Wire echo.
package gonet

import (
	"net"
	"sync"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// Transport is go-net.
type Transport struct{}

// Describe implements load.Transport.
func (Transport) Describe() contract.Transport {
	zero, most := 0.0, float64(64<<20)
	return contract.Transport{
		Name:     "go-net",
		Doc:      "Go's net package, one goroutine per connection",
		Wire:     wire.Echo,
		Roles:    []contract.Role{contract.Server, contract.Client},
		Delivery: contract.DeliveryChunks,
		Codecs:   []string{"bytes"},
		Options: []contract.Option{{
			Name: "buffer", Type: contract.TypeBytes, Default: 0, Min: &zero, Max: &most,
			Doc: "read buffer of each connection; 0 takes the message size within 4 KiB and 64 KiB",
		}},
	}
}

// bufferSize resolves option buffer.
func bufferSize(setup contract.Setup) int64 {
	if n := load.Options(setup.Options).Int("buffer"); n > 0 {
		return n
	}
	return min(max(setup.Exchange.UpBytes, 4<<10), 64<<10)
}

// server echoes whatever comes.
type server struct {
	setup     contract.Setup
	listeners *wire.Listeners
	wait      sync.WaitGroup

	mu   sync.Mutex
	open map[*connection]struct{}
	gone contract.Counts // of connections that have ended
}

// connection is one accepted connection and its counts, written by its own
// goroutine only.
type connection struct {
	net.Conn
	received, sent atomic.Int64
}

// Server implements load.Transport.
func (Transport) Server(setup contract.Setup) (load.Server, error) {
	listeners, err := wire.Listen(setup)
	if err != nil {
		return nil, err
	}
	s := &server{setup: setup, listeners: listeners, open: map[*connection]struct{}{}}
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
		conn := &connection{Conn: c}
		s.mu.Lock()
		s.open[conn] = struct{}{}
		s.mu.Unlock()
		s.wait.Go(func() { s.echo(conn) })
	}
}

func (s *server) echo(c *connection) {
	defer s.forget(c)
	buf := make([]byte, bufferSize(s.setup))
	for {
		n, err := c.Read(buf)
		c.received.Add(int64(n))
		if err != nil {
			return // the client has finished, or its failure is its own to count
		}
		n, err = c.Write(buf[:n])
		c.sent.Add(int64(n))
		if err != nil {
			return
		}
	}
}

func (s *server) forget(c *connection) {
	_ = c.Close() // nothing is left to write
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone.ReceivedBytes += c.received.Load()
	s.gone.SentBytes += c.sent.Load()
	delete(s.open, c)
}

// Ready implements load.Server.
func (s *server) Ready() contract.Ready {
	return contract.Ready{Addresses: s.listeners.Addresses(), Options: map[string]any{"buffer": bufferSize(s.setup)}}
}

// Counts implements load.Server.
func (s *server) Counts() contract.Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	counts := s.gone
	for c := range s.open {
		counts.ReceivedBytes += c.received.Load()
		counts.SentBytes += c.sent.Load()
	}
	counts.Connections = int64(len(s.open))
	counts.Exchanges = counts.ReceivedBytes / max(1, s.setup.Exchange.UpBytes)
	return counts
}

// Close implements load.Server.
func (s *server) Close() error {
	s.listeners.Close() // ends every accept and every echo loop
	s.wait.Wait()
	return nil
}
