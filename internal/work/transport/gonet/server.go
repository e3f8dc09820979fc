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
	*wire.Server
	served *flow.Served
	wait   sync.WaitGroup // for the connections
}

// Server implements load.Transport.
func (Transport) Server(setup contract.Setup) (load.Server, error) {
	p, err := newPlan(setup)
	if err != nil {
		return nil, err
	}
	s := &server{plan: p, served: flow.NewServed(p.work)}
	if s.Server, err = wire.NewServer(setup, contract.Ready{Options: setup.Options}); err != nil {
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

// Counts implements load.Server.
func (s *server) Counts() contract.Counts { return s.served.Counts() }
