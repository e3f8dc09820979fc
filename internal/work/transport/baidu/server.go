package baidu

import (
	"net"
	"sync"
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/rpc"
)

type server struct {
	*wire.Server
	x       *codec.Exchange
	options load.Options // effective
	content *content
	names   []rpc.Method
	wait    sync.WaitGroup // for the goroutines of connections

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
	s.content = contentOf(setup, s.x, s.options)
	if s.Server, err = wire.NewServer(setup, s.x.Sizes(contract.Ready{Options: s.options})); err != nil {
		return nil, err
	}
	s.Serve(s.accept, func() error { s.wait.Wait(); return nil })
	return s, nil
}

func (s *server) accept(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
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

// Counts implements load.Server. What a client sent that is no frame, or no
// request of this trial, is an error of kind invalid.
func (s *server) Counts() contract.Counts {
	s.mu.Lock()
	total := s.gone
	for a := range s.open {
		total.add(a)
	}
	s.mu.Unlock()
	counts := s.Server.Counts()
	counts.Exchanges, counts.ReceivedBytes, counts.SentBytes = total.exchanges, total.received, total.exchanges*s.x.DownBytes
	if total.invalid > 0 {
		counts.Errors = map[contract.ErrorKind]int64{contract.Invalid: total.invalid}
	}
	return counts
}
