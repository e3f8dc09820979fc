package goquic

import (
	"context"
	"sync"

	"github.com/quic-go/quic-go"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/flow"
	"netdyno/internal/work/wire/quicwire"
)

// server serves each stream on a goroutine of its own.
type server struct {
	*quicwire.Server
	*plan
	served *flow.Served
	wait   sync.WaitGroup
}

// Server implements load.Transport.
func (Transport) Server(setup contract.Setup) (load.Server, error) {
	p, err := newPlan(&setup)
	if err != nil {
		return nil, err
	}
	inner, err := quicwire.NewServer(setup, protocol, contract.Ready{})
	if err != nil {
		return nil, err
	}
	s := &server{Server: inner, plan: p, served: flow.NewServed(p.work)}
	s.Serve(s.accept, func() error { return nil })
	return s, nil
}

// accept takes connections until the listener is closed.
func (s *server) accept(l *quicwire.Listener) error {
	for {
		conn, err := l.Accept(context.Background())
		if err != nil {
			return err
		}
		s.Opened(context.Background(), conn)
		s.wait.Go(func() { s.serve(conn) })
	}
}

// serve takes the streams of a connection until it ends.
func (s *server) serve(conn *quic.Conn) {
	for {
		stream, err := conn.AcceptStream(context.Background())
		if err != nil {
			return // it has ended
		}
		f := s.served.Begin()
		s.wait.Go(func() {
			defer s.served.End(f)
			flow.Serve(breakable{stream}, f, make([]byte, s.buffer))
		})
	}
}

// breakable is a stream whose Close ends what is being read and written.
type breakable struct{ *quic.Stream }

// Close implements io.Closer. What the peer has not received is given up: it ends
// a stream when it has all that it waits for.
func (b breakable) Close() error {
	b.CancelRead(0)
	b.CancelWrite(0)
	return nil
}

// Counts implements load.Server.
func (s *server) Counts() contract.Counts {
	counts := s.served.Counts()
	counts.Connections, counts.Strangers = s.Connections(), s.Server.Counts().Strangers // it counts streams
	return counts
}

// Close implements load.Server.
func (s *server) Close() error {
	err := s.Server.Close() // ends every connection
	s.wait.Wait()
	return err
}
