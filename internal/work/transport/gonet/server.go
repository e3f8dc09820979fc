package gonet

import (
	"net"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/flow"
)

// server accepts, and serves each connection on a goroutine of its own.
type server struct {
	*plan
	*wire.Listeners // tlswire.Server would bring TLS into the program, and its memory
	served          *flow.Served
	wait            sync.WaitGroup
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
	s := &server{plan: p, Listeners: listeners, served: flow.NewServed(p.work)}
	for _, l := range listeners.All() {
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
		c, err := s.equip(conn, &s.work.Down, s.work.Up.Bytes)
		if err != nil {
			_ = conn.Close() // its client sees it fail
			continue
		}
		f := s.served.Begin()
		s.wait.Go(func() {
			defer s.served.End(f)
			flow.Serve(c, f, c.buffer)
		})
	}
}

// Ready implements load.Server.
func (s *server) Ready() contract.Ready {
	return contract.Ready{Addresses: s.Addresses(), Options: s.options}
}

// Counts implements load.Server.
func (s *server) Counts() contract.Counts {
	counts := s.served.Counts()
	counts.Strangers = s.Strangers()
	return counts
}

// Close implements load.Server.
func (s *server) Close() error {
	s.Listeners.Close() // ends every accept and every connection's goroutine
	s.wait.Wait()
	return nil
}
