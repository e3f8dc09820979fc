package goepoll

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// Connecting is staggered: so many at once, and fewer when the messages that
// verify them are large and fill the kernel's buffers.
const (
	connecting      = 256
	verifyingMemory = 64 << 20
	stalledAfter    = 10 * time.Second
)

// trial is the one verified exchange of a connection.
type trial struct {
	check wire.Trial
	sent  int64
}

// connect opens the loop's connections and verifies one exchange on each.
func (l *loop) connect(routes []wire.Route) error {
	work := l.client.work
	at := min(connecting, max(1, verifyingMemory/(work.Up.Bytes+work.Down.Bytes)))
	next, done := 0, 0
	progress := load.Now()
	for done < len(l.conns) {
		for ; next < len(l.conns) && int64(next-done) < at; next++ {
			if err := l.open(l.conns[next], routes); err != nil {
				return err
			}
		}
		events := l.poller.wait(100 * time.Millisecond)
		for _, e := range events {
			c := l.byFD(int(e.Fd))
			if c == nil || c.trial == nil {
				continue
			}
			if err := l.verify(c, routes); err != nil {
				return err
			}
			if progress = load.Now(); c.trial == nil {
				done++
			}
		}
		if l.client.closed.Load() {
			return load.Failure(contract.SetupFailed, errors.New("closed while connecting"))
		}
		if load.Now()-progress > int64(stalledAfter) {
			return l.silence(routes)
		}
	}
	return nil
}

// silence explains why nothing has been connected or verified for stalledAfter.
func (l *loop) silence(routes []wire.Route) error {
	for _, c := range l.conns {
		if c.trial == nil || c.trial.sent == 0 {
			continue
		}
		want := l.client.work.Down.Bytes
		return wire.SilenceFailure(c.number, routes, want-c.trial.check.Left(), want, stalledAfter)
	}
	return load.Failure(contract.Timeout, fmt.Errorf("no connection to the server at %s was made for %v", routes[0].Peer, stalledAfter))
}

// open begins one connection.
func (l *loop) open(c *conn, routes []wire.Route) error {
	r := routes[c.number]
	fd, err := newSocket(r.Peer.Addr(), l.client.buffers)
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
	c.trial = &trial{check: l.client.work.TrialDown()}
	return l.poller.add(fd, interest)
}

// verify moves the first exchange as far as it goes; c.trial is gone when its
// content has come and is correct.
func (l *loop) verify(c *conn, routes []wire.Route) error {
	fail := func(err error) error { return wire.ConnectFailure(c.number, len(routes), routes[c.number], err) }
	if code, err := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_ERROR); err != nil || code != 0 {
		return fail(errors.Join(err, syscall.Errno(code)))
	}
	t, up := c.trial, &l.client.work.Up
	for t.sent < up.Bytes {
		n, errno := send(c.fd, up.Piece(t.sent))
		if errno == syscall.EAGAIN {
			break
		}
		if errno != 0 {
			return fail(errno)
		}
		t.sent += int64(n)
	}
	for t.check.Left() > 0 {
		n, errno := read(c.fd, l.scratch[:min(int64(len(l.scratch)), t.check.Left())])
		switch {
		case errno == syscall.EAGAIN:
			return nil
		case errno != 0:
			return fail(errno)
		case n == 0:
			return t.check.Err(c.number)
		}
		t.check.Add(l.scratch[:n])
	}
	c.trial = nil
	return t.check.Err(c.number)
}
