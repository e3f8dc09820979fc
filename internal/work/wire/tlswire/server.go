package tlswire

import (
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/work/wire"
)

// Server is what every server needs whose library takes connections from a
// net.Listener: the ports, the counters, and the order in which both end. A
// transport embeds it, and adds its protocol by Serve. Any goroutine may call
// the methods.
type Server struct {
	TLS *tls.Config // how connections are encrypted; nil for plain text

	listeners *wire.Listeners
	ready     contract.Ready
	stop      func() error
	serving   sync.WaitGroup

	exchanges, received, sent atomic.Int64
}

// NewServer opens the ports of setup. ready holds what the transport reports
// beside their addresses. The error is of kind setup.
func NewServer(setup contract.Setup, ready contract.Ready) (*Server, error) {
	encryption, err := ServerConfig(setup)
	if err != nil {
		return nil, err
	}
	listeners, err := wire.Listen(setup)
	if err != nil {
		return nil, err
	}
	ready.Addresses = listeners.Addresses()
	return &Server{TLS: encryption, listeners: listeners, ready: ready, stop: func() error { return nil }}, nil
}

// Serve runs serve for each port on a goroutine of its own. serve has to return
// once its listener is closed. Close calls stop after that, to end what serve
// has left running. Call Serve at most once.
func (s *Server) Serve(serve func(net.Listener) error, stop func() error) {
	s.stop = stop
	for _, l := range s.listeners.All() {
		s.serving.Go(func() { _ = serve(l) }) // the listener's own error reaches Exited
	}
}

// Count adds one exchange with the payload bytes of its request and its reply.
func (s *Server) Count(received, sent int64) {
	s.received.Add(received)
	s.sent.Add(sent)
	s.exchanges.Add(1)
}

// CountReceived adds the request bytes of an exchange that Count adds later.
func (s *Server) CountReceived(bytes int64) { s.received.Add(bytes) }

// Ready implements load.Server.
func (s *Server) Ready() contract.Ready { return s.ready }

// Exited implements load.Exiter.
func (s *Server) Exited() <-chan error { return s.listeners.Exited() }

// Counts implements load.Server.
func (s *Server) Counts() contract.Counts {
	return contract.Counts{
		Exchanges: s.exchanges.Load(), ReceivedBytes: s.received.Load(), SentBytes: s.sent.Load(),
		Connections: s.listeners.Open(), Strangers: s.listeners.Strangers(),
	}
}

// Close implements load.Server.
func (s *Server) Close() error {
	s.listeners.Close()
	s.serving.Wait()
	return s.stop()
}
