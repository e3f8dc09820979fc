package baidu

import (
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

type server struct {
	x         *codec.Exchange
	options   load.Options // effective
	content   *content
	names     []name
	secure    *tls.Config // nil for plain text
	listeners *wire.Listeners
	wait      sync.WaitGroup

	mu   sync.Mutex
	open map[*account]struct{}
	gone sums // of connections that have ended
}

// account is what one connection has counted; its own goroutine alone writes.
type account struct{ exchanges, received, invalid atomic.Int64 }

// sums are accounts added up.
type sums struct{ exchanges, received, invalid int64 }

func (s *sums) add(a *account) {
	s.exchanges += a.exchanges.Load()
	s.received += a.received.Load()
	s.invalid += a.invalid.Load()
}

// Server implements load.Transport.
func (Transport) Server(setup contract.Setup) (load.Server, error) {
	s := &server{open: map[*account]struct{}{}}
	var err error
	if s.x, err = codec.New(setup, codecs); err != nil {
		return nil, err
	}
	if s.options, err = effective(setup, s.x); err != nil {
		return nil, err
	}
	if s.names, err = served(setup, s.options); err != nil {
		return nil, err
	}
	if s.secure, err = wire.ServerTLS(setup); err != nil {
		return nil, err
	}
	s.content = contentOf(setup, s.x, s.options)
	if s.listeners, err = wire.Listen(setup); err != nil {
		return nil, err
	}
	for _, l := range s.listeners.All() {
		s.wait.Go(func() { s.accept(l) })
	}
	return s, nil
}

func (s *server) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return // closed
		}
		a := &account{}
		s.mu.Lock()
		s.open[a] = struct{}{}
		s.mu.Unlock()
		s.wait.Go(func() {
			s.serve(conn, a)
			s.settle(a)
		})
	}
}

// settle closes the account of a connection that has ended.
func (s *server) settle(a *account) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone.add(a)
	delete(s.open, a)
}

// Ready implements load.Server.
func (s *server) Ready() contract.Ready {
	return s.x.Sizes(contract.Ready{Addresses: s.listeners.Addresses(), Options: s.options})
}

// Exited implements load.Exiter.
func (s *server) Exited() <-chan error { return s.listeners.Exited() }

// Counts implements load.Server. What a client sent that is no frame, or no
// request of this trial, is an error of kind invalid.
func (s *server) Counts() contract.Counts {
	s.mu.Lock()
	total := s.gone
	for a := range s.open {
		total.add(a)
	}
	s.mu.Unlock()
	counts := contract.Counts{
		Exchanges: total.exchanges, ReceivedBytes: total.received, SentBytes: total.exchanges * s.x.DownBytes,
		Connections: s.listeners.Open(),
	}
	if total.invalid > 0 {
		counts.Errors = map[contract.ErrorKind]int64{contract.Invalid: total.invalid}
	}
	return counts
}

// Close implements load.Server.
func (s *server) Close() error {
	s.listeners.Close() // ends every accept and every connection's loop
	s.wait.Wait()
	return nil
}
