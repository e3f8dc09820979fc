package goepoll

import (
	"errors"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// Connecting is staggered: so many at once, and fewer when the messages that
// verify them are large.
const (
	connecting      = 256
	verifyingMemory = 64 << 20
	stalledAfter    = 10 * time.Second
)

// connect opens the loop's connections and verifies one message on each.
func (l *loop) connect(routes []wire.Route) error {
	at := min(connecting, max(1, verifyingMemory/len(l.payload)))
	next, done := 0, 0
	progress := load.Now()
	for done < len(l.conns) {
		for ; next < len(l.conns) && next-done < at; next++ {
			if err := l.open(l.conns[next], routes); err != nil {
				return err
			}
		}
		events := l.poller.wait(100 * time.Millisecond)
		for _, e := range events {
			c := l.byFD(int(e.Fd))
			if c == nil || c.back == nil {
				continue
			}
			verified, err := l.verify(c, len(routes), routes)
			if err != nil {
				return err
			}
			if verified {
				done++
				progress = load.Now()
			}
		}
		if l.client.closed.Load() {
			return load.Failure(contract.SetupFailed, errors.New("closed while connecting"))
		}
		if load.Now()-progress > int64(stalledAfter) {
			return load.Failure(contract.Timeout, errors.New("no connection was made or verified for 10 s"))
		}
	}
	return nil
}

// open begins one connection.
func (l *loop) open(c *conn, routes []wire.Route) error {
	r := routes[c.number]
	fd, err := newSocket(r.Peer.Addr())
	if err != nil {
		return wire.ConnectFailure(c.number, len(routes), r, err)
	}
	c.fd = fd
	l.register(c)
	if r.Source.IsValid() {
		// The port is chosen at connect, where the kernel knows the peer.
		if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err != nil {
			return wire.ConnectFailure(c.number, len(routes), r, err)
		}
		if err := unix.Bind(fd, sockaddrOf(netipPort(r.Source))); err != nil {
			return wire.ConnectFailure(c.number, len(routes), r, err)
		}
	}
	if err := noDelay(fd); err != nil {
		return wire.ConnectFailure(c.number, len(routes), r, err)
	}
	if err := unix.Connect(fd, sockaddrOf(r.Peer)); err != nil && !errors.Is(err, unix.EINPROGRESS) {
		return wire.ConnectFailure(c.number, len(routes), r, err)
	}
	c.back, c.unsent = make([]byte, 0, len(l.payload)), len(l.payload)
	return l.poller.add(fd, interest)
}

// verify moves the first message and reports when it is back and correct.
func (l *loop) verify(c *conn, of int, routes []wire.Route) (bool, error) {
	if code, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR); err != nil || code != 0 {
		return false, wire.ConnectFailure(c.number, of, routes[c.number], errors.Join(err, syscall.Errno(code)))
	}
	if errno := l.push(c); errno != 0 {
		return false, wire.ConnectFailure(c.number, of, routes[c.number], errno)
	}
	for len(c.back) < cap(c.back) {
		n, errno := read(c.fd, c.back[len(c.back):cap(c.back)])
		switch {
		case errno == syscall.EAGAIN:
			return false, nil
		case errno != 0:
			return false, wire.ConnectFailure(c.number, of, routes[c.number], errno)
		case n == 0:
			return false, wire.Verify(c.number, l.payload, c.back)
		}
		c.back = c.back[:len(c.back)+n]
	}
	err := wire.Verify(c.number, l.payload, c.back)
	c.back = nil
	return err == nil, err
}
