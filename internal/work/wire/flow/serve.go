package flow

import (
	"io"
	"sync"
)

// Serve carries out a server's flow on a connection by blocking calls, and closes
// the connection. It returns when the client has finished or broken the
// connection, or has sent what it may not: such a failure is the client's to
// count.
func Serve(conn io.ReadWriteCloser, s *Server, buffer []byte) {
	defer conn.Close()
	if s.work.BothWays() {
		serveBoth(conn, s, buffer)
		return
	}
	for receive(conn, s, buffer) == nil && s.Send(conn) == nil {
	}
}

// serveBoth serves an exchange whose bytes travel both ways at the same time: this
// goroutine receives, another sends.
func serveBoth(conn io.ReadWriteCloser, s *Server, buffer []byte) {
	more := make(chan struct{}, 1) // more is owed than the sender last saw
	var sending sync.WaitGroup
	sending.Go(func() {
		for range more {
			if s.Send(conn) != nil {
				_ = conn.Close() // ends the receiving
				return
			}
		}
	})
	for owed := int64(0); receive(conn, s, buffer) == nil; {
		if now := s.work.Owed(s.received.Load()); now != owed {
			owed = now
			select {
			case more <- struct{}{}:
			default: // it has not looked since the last time, and will see both
			}
		}
	}
	_ = conn.Close() // ends the sending
	close(more)
	sending.Wait()
}

// receive reads once. The error says that the connection is over.
func receive(conn io.Reader, s *Server, buffer []byte) error {
	n, err := conn.Read(buffer[:s.Limit(len(buffer))])
	if n > 0 {
		if err := s.Received(buffer[:n]); err != nil {
			return err
		}
	}
	return err
}

// Send writes everything that waits to be written, by blocking calls.
func (s *Server) Send(to io.Writer) error {
	for s.Unsent() {
		n, err := to.Write(s.Outgoing())
		s.Written(n)
		if err != nil {
			return err
		}
	}
	return nil
}
