package goepoll

import (
	"io"
	"syscall"

	"golang.org/x/sys/unix"

	"netdyno/internal/work/wire/flow"
)

// loop moves the bytes of its connections as their flows say. One thread uses it.
type loop struct {
	poller  *poller
	buffer  []byte
	conns   []*conn     // by file descriptor
	again   []*conn     // had their turn, and were neither drained nor blocked
	resumed []*conn     // those of the last round; its memory is the next one's
	lost    func(*conn) // is called for each connection that breaks
	lowat   int64       // option lowat
}

// conn is one connection.
type conn struct {
	flow     flow.Flow
	number   int // a client's
	fd       int
	full     bool  // the kernel takes no more until its next writable edge
	readable bool  // an edge came and not all is read
	broken   bool  // read to the end: no further edge will come
	again    bool  // in the loop's list of that name
	water    int64 // how many bytes wake the loop, once that was set
}

// addConnection takes over a connected socket.
func (l *loop) addConnection(fd, number int, f flow.Flow) error {
	for len(l.conns) <= fd {
		l.conns = append(l.conns, make([]*conn, len(l.conns)+64)...)
	}
	l.conns[fd] = &conn{flow: f, number: number, fd: fd}
	return l.poller.addSocket(fd, interest)
}

// drop closes a connection.
func (l *loop) drop(c *conn) {
	l.conns[c.fd] = nil
	_ = unix.Close(c.fd) // leaves the epoll instance with it
	c.fd = -1
}

// close closes everything. The loop does not run.
func (l *loop) close() {
	for _, c := range l.conns {
		if c != nil {
			l.drop(c)
		}
	}
	l.poller.close()
}

// handle moves the bytes of a connection that an event tells of; other
// descriptors are not its own.
func (l *loop) handle(fd int, events uint32) {
	if fd >= len(l.conns) || l.conns[fd] == nil {
		return
	}
	c := l.conns[fd]
	if events&unix.EPOLLOUT != 0 {
		c.full = false
	}
	c.broken = c.broken || events&broken != 0
	c.readable = c.readable || c.broken || events&unix.EPOLLIN != 0
	l.serve(c)
}

// resume gives those another turn that had theirs and were not done.
func (l *loop) resume() {
	l.again, l.resumed = l.resumed[:0], l.again
	for _, c := range l.resumed {
		c.again = false
		l.serve(c)
	}
}

// turns bounds how long one connection may hold its thread, in system calls
// each way.
const turns = 16

// serve moves a connection's bytes until it is drained, blocked or has had its
// turn.
func (l *loop) serve(c *conn) {
	l.push(c)
	l.pull(c)
	if l.lowat > 0 && !c.readable && c.fd >= 0 {
		l.lower(c)
	}
}

// lower has the kernel wake the loop when enough of a message is there. Where that is already, the
// call raises an edge.
func (l *loop) lower(c *conn) {
	water := min(l.lowat, c.flow.Missing())
	if water == c.water {
		return
	}
	if err := unix.SetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_RCVLOWAT, int(water)); err != nil {
		l.lose(c, err)
		return
	}
	c.water = water
}

// remember sees to it that a connection has another turn.
func (l *loop) remember(c *conn) {
	if !c.again {
		c.again = true
		l.again = append(l.again, c)
	}
}

// push writes what is unsent as far as the socket takes it.
func (l *loop) push(c *conn) {
	for range turns {
		if c.full || c.fd < 0 || !c.flow.Unsent() {
			return
		}
		n, errno := send(c.fd, c.flow.Outgoing())
		switch errno {
		case 0:
			c.flow.Written(n)
		case syscall.EINTR:
		case syscall.EAGAIN:
			c.full = true
		default:
			l.lose(c, errno)
		}
	}
	l.remember(c)
}

// pull reads what has come, and writes what answers it.
func (l *loop) pull(c *conn) {
	for range turns {
		if !c.readable || c.fd < 0 {
			return
		}
		limit := c.flow.Limit(len(l.buffer))
		if limit == 0 {
			return // the next writable edge goes on
		}
		n, errno := readSocket(c.fd, l.buffer[:limit])
		switch {
		case errno == syscall.EAGAIN:
			c.readable = false
			return
		case errno == syscall.EINTR:
			continue
		case n == 0 && errno == 0:
			l.lose(c, io.EOF)
			return
		case errno != 0:
			l.lose(c, errno)
			return
		}
		// A short read has drained the socket; more raises a new edge.
		c.readable = n == limit || c.broken
		if err := c.flow.Received(l.buffer[:n]); err != nil {
			l.lose(c, err)
			return
		}
		l.push(c)
		c.flow.Keep()
	}
	l.remember(c)
}

// lose gives up a connection.
func (l *loop) lose(c *conn, why error) {
	c.flow.Abandon(why)
	l.drop(c)
	l.lost(c)
}
