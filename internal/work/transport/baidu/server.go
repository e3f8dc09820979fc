package baidu

import (
	"net"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/tlswire"
)

// Server implements load.Transport.
func (Transport) Server(setup contract.Setup) (load.Server, error) {
	s := &server{open: map[*counters]struct{}{}}
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
	if s.Server, err = tlswire.NewServer(setup, s.x.Sizes(contract.Ready{Options: s.options})); err != nil {
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
		c := &counters{}
		s.mu.Lock()
		s.open[c] = struct{}{}
		s.mu.Unlock()
		s.wait.Go(func() {
			s.serve(conn, c)
			s.remove(c)
		})
	}
}

// remove keeps the sums of a connection that has ended.
func (s *server) remove(c *counters) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone.addCounters(c)
	delete(s.open, c)
}

// Counts implements load.Server. Bytes from a client that are no frame, or no
// request of this trial, count as an error of kind invalid.
func (s *server) Counts() contract.Counts {
	s.mu.Lock()
	total := s.gone
	for c := range s.open {
		total.addCounters(c)
	}
	s.mu.Unlock()
	counts := s.Server.Counts()
	counts.Exchanges, counts.ReceivedBytes, counts.SentBytes = total.exchanges, total.received, total.exchanges*s.x.DownBytes
	if total.invalid > 0 {
		counts.Errors = map[contract.ErrorKind]int64{contract.Invalid: total.invalid}
	}
	return counts
}
