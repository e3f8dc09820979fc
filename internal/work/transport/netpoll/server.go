package netpoll

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudwego/netpoll"
	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/flow"
)

// closeTimeout is how long Close waits for an echo that is being written.
const closeTimeout = time.Second

// server echoes what comes.
type server struct {
	pollers   int
	served    *flow.Served
	addresses []string
	allowed   *wire.Allowed
	loops     []netpoll.EventLoop
	serving   sync.WaitGroup
	failed    atomic.Int64 // ports on which the library stopped serving

	mu     sync.Mutex
	open   map[*session]struct{}
	closed bool
}

// session is one accepted connection. The library hands it to the handler as the
// context. One goroutine at a time handles a connection.
type session struct {
	context.Context
	conn netpoll.Connection
	flow *flow.Server
}

// Server implements load.Transport.
func (Transport) Server(setup contract.Setup) (load.Server, error) {
	n, err := configure(setup)
	if err != nil {
		return nil, err
	}
	allowed, err := wire.AllowedOf(setup)
	if err != nil {
		return nil, err
	}
	work, err := flow.NewWork(setup)
	if err != nil {
		return nil, err
	}
	listeners, err := wire.Listen(setup)
	if err != nil {
		return nil, err
	}
	defer listeners.Close() // the library has copies of the ports
	s := &server{
		pollers: n, served: flow.NewServed(work), addresses: listeners.Addresses(),
		allowed: allowed, open: map[*session]struct{}{},
	}
	for _, l := range listeners.All() {
		if err := s.serve(l); err != nil {
			_ = s.Close() // the first failure is the one to report
			return nil, load.Failure(contract.SetupFailed, err)
		}
	}
	return s, nil
}

// serve serves one port on a goroutine of its own.
func (s *server) serve(l net.Listener) error {
	p, err := newPort(l)
	if err != nil {
		return err
	}
	loop, err := netpoll.NewEventLoop(s.echo, netpoll.WithOnPrepare(s.admit))
	if err != nil {
		return err
	}
	s.loops = append(s.loops, loop)
	s.serving.Go(func() {
		if loop.Serve(p) != nil {
			s.failed.Add(1)
		}
	})
	return nil
}

// admit takes in a new connection, or closes it when its client is not allowed. It
// runs on the poller.
func (s *server) admit(conn netpoll.Connection) context.Context {
	n := &session{Context: context.Background(), conn: conn}
	if !s.enter(n) {
		_ = conn.Close() // nothing was sent on it
		return n
	}
	// It fails only for a nil callback.
	_ = conn.AddCloseCallback(func(netpoll.Connection) error { s.leave(n); return nil })
	return n
}

func (s *server) enter(n *session) bool {
	address, ok := n.conn.RemoteAddr().(*net.TCPAddr)
	if !ok || !s.allowed.Accepts(address.AddrPort().Addr()) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.open[n], n.flow = struct{}{}, s.served.Begin()
	return true
}

func (s *server) leave(n *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.served.End(n.flow)
	delete(s.open, n)
}

// echo sends back what has come so far, from the library's read buffer.
func (s *server) echo(ctx context.Context, conn netpoll.Connection) error {
	f, reader := ctx.(*session).flow, conn.Reader()
	if f == nil {
		return conn.Close() // its client is not allowed
	}
	for again := true; again; again = reader.Len() > 0 {
		bytes, err := reader.Next(f.Limit(reader.Len()))
		if err == nil {
			err = f.Received(bytes)
		}
		if err == nil {
			err = f.Send(writer{conn.Writer()})
		}
		if err != nil {
			return conn.Close() // the client counts its own failures
		}
	}
	return reader.Release()
}

// writer is an io.Writer that returns when the kernel has all of it.
type writer struct{ netpoll.Writer }

// Write implements io.Writer.
func (w writer) Write(piece []byte) (int, error) {
	n, err := w.WriteBinary(piece)
	if err == nil {
		err = w.Flush()
	}
	return n, err
}

// Ready implements load.Server.
func (s *server) Ready() contract.Ready {
	return contract.Ready{Addresses: s.addresses, Options: effective(s.pollers)}
}

// Counts implements load.Server.
func (s *server) Counts() contract.Counts {
	counts := s.served.Counts()
	counts.Strangers = s.allowed.Strangers()
	if failed := s.failed.Load(); failed > 0 {
		counts.Errors = map[contract.ErrorKind]int64{contract.SetupFailed: failed}
	}
	return counts
}

// Close implements load.Server.
func (s *server) Close() error {
	s.mu.Lock()
	s.closed = true
	open := make([]*session, 0, len(s.open))
	for n := range s.open {
		open = append(open, n)
	}
	s.mu.Unlock()
	for _, n := range open {
		_ = n.conn.Close() // ends an echo whose client does not read
	}
	served := make(chan struct{})
	go func() { s.serving.Wait(); close(served) }()
	for {
		// A loop that has not started yet ignores Shutdown: repeat until it ends.
		s.shutdown()
		select {
		case <-served:
			return nil
		case <-time.After(time.Millisecond):
		}
	}
}

func (s *server) shutdown() {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	for _, loop := range s.loops {
		_ = loop.Shutdown(ctx) // it fails only when ctx ends; the process ends next
	}
}

// port is a listening socket that the library serves.
type port struct{ netpoll.Listener }

// newPort gives the library a copy of a listening socket, because it needs the
// descriptor, which net.Listener hides. The caller still closes its own listener.
func newPort(l net.Listener) (port, error) {
	filer, ok := l.(interface{ File() (*os.File, error) })
	if !ok {
		return port{}, errors.New("take over a listener: it has no file")
	}
	file, err := filer.File()
	if err != nil {
		return port{}, fmt.Errorf("take over a listener: %w", err)
	}
	defer file.Close()
	copied, err := net.FileListener(file)
	if err != nil {
		return port{}, fmt.Errorf("take over a listener: %w", err)
	}
	defer func() { _ = copied.Close() }() // the library has its own copy by then
	converted, err := netpoll.ConvertListener(copied)
	if err != nil {
		return port{}, fmt.Errorf("take over a listener: %w", err)
	}
	return port{converted}, nil
}

// Close stops listening. The library's own Close closes the descriptor by its number
// and then again by its file; in between, another thread may have been given the
// number. So Close shuts the socket down, which refuses clients at once, and leaves
// the file to the garbage collector.
func (p port) Close() error { return unix.Shutdown(p.Fd(), unix.SHUT_RDWR) }
