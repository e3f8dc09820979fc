package goepoll

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// loop drives a share of the client's connections. Its thread owns it.
type loop struct {
	client  *client
	poller  *poller
	payload []byte
	scratch []byte
	conns   []*conn
	table   []*conn              // by file descriptor
	idle    []waiting            // before the load begins
	agenda  load.Agenda[waiting] // what is due later
	active  int                  // slots not yet let go
	now     int64
}

// conn is one connection. Replies come in the order sent, so flights is a
// queue: a ring of as many places as the connection has slots.
type conn struct {
	number  int
	fd      int
	flights []flight
	head    int
	flying  int
	unsent  int    // bytes accepted for sending and not yet written
	got     int    // bytes of the head's reply
	back    []byte // while verifying
	dead    bool
}

type flight struct {
	slot *load.Slot
	sent int64
}

// waiting is a slot between two exchanges.
type waiting struct {
	conn *conn
	slot *load.Slot
}

func (l *loop) byFD(fd int) *conn {
	if fd < len(l.table) {
		return l.table[fd]
	}
	return nil
}

func (l *loop) register(c *conn) {
	for len(l.table) <= c.fd {
		l.table = append(l.table, make([]*conn, len(l.table)+64)...)
	}
	l.table[c.fd] = c
}

func (c *conn) close() {
	if c.fd >= 0 {
		_ = unix.Close(c.fd)
		c.fd = -1
	}
}

// run issues the load until every slot is let go or the client is closed.
func (l *loop) run() {
	l.now = load.Now()
	l.active = len(l.idle)
	for _, w := range l.idle {
		l.next(w.conn, w.slot)
	}
	l.idle = nil
	for l.active > 0 && !l.client.closed.Load() {
		events := l.poller.wait(l.timeout())
		l.now = load.Now()
		for _, e := range events {
			if c := l.byFD(int(e.Fd)); c != nil {
				l.handle(c, e.Events)
			}
		}
		l.fire()
	}
}

// timeout is how long the loop may sleep: until the next due.
func (l *loop) timeout() time.Duration {
	if l.agenda.Len() == 0 {
		return forever
	}
	due, _ := l.agenda.Peek()
	return time.Duration(max(0, due-load.Now()))
}

// fire sends what has fallen due, all of it before the next wait. After the
// end of the load what is due later is let go.
func (l *loop) fire() {
	for l.agenda.Len() > 0 {
		l.now = load.Now()
		due, w := l.agenda.Peek()
		if due > l.now {
			break
		}
		l.agenda.Pop()
		l.send(w.conn, w.slot)
	}
	select {
	case <-l.client.load.Ended():
		for ; l.agenda.Len() > 0; l.active-- {
			l.agenda.Pop().slot.Cancel()
		}
	default:
	}
}

// next asks a slot for its next exchange.
func (l *loop) next(c *conn, slot *load.Slot) {
	due, more := slot.Next(l.now)
	switch {
	case !more:
		l.active--
	case due > l.now:
		l.agenda.Push(due, waiting{c, slot})
	default:
		l.send(c, slot)
	}
}

// send puts one message on a connection.
func (l *loop) send(c *conn, slot *load.Slot) {
	if c.dead {
		slot.Cancel()
		l.active--
		return
	}
	c.flights[(c.head+c.flying)%len(c.flights)] = flight{slot, l.now}
	c.flying++
	c.unsent += len(l.payload)
	if errno := l.push(c); errno != 0 {
		l.lose(c)
	}
}

// push writes what is unsent as far as the socket takes it.
func (l *loop) push(c *conn) syscall.Errno {
	for c.unsent > 0 {
		// Every message is the payload, so its end tells where to go on.
		rest := (c.unsent-1)%len(l.payload) + 1
		n, errno := send(c.fd, l.payload[len(l.payload)-rest:])
		if errno == syscall.EAGAIN {
			return 0
		}
		if errno != 0 {
			return errno
		}
		c.unsent -= n
	}
	return 0
}

// handle reads replies until the connection is drained.
func (l *loop) handle(c *conn, events uint32) {
	if c.dead {
		return
	}
	if c.unsent > 0 && events&unix.EPOLLOUT != 0 {
		if errno := l.push(c); errno != 0 {
			l.lose(c)
			return
		}
	}
	for !c.dead {
		n, errno := read(c.fd, l.scratch)
		switch {
		case errno == syscall.EAGAIN:
			return
		case errno == syscall.EINTR:
			continue
		case errno != 0 || n == 0:
			l.lose(c)
			return
		}
		if !l.complete(c, n) {
			return
		}
		if n < len(l.scratch) && events&broken == 0 {
			return // a short read has drained the socket; more raises a new edge
		}
	}
}

// complete accounts for n received bytes; false when the connection had to be
// dropped because more came than was sent.
func (l *loop) complete(c *conn, n int) bool {
	c.got += n
	if c.got < len(l.payload) {
		return true
	}
	l.now = load.Now()
	for c.got >= len(l.payload) && !c.dead {
		if c.flying == 0 {
			l.invalid(c)
			return false
		}
		c.got -= len(l.payload)
		f := c.flights[c.head]
		c.head = (c.head + 1) % len(c.flights)
		c.flying--
		f.slot.Done(f.sent, l.now, int64(len(l.payload)))
		l.next(c, f.slot)
	}
	return true
}

// invalid drops a connection whose peer sends what nobody asked for.
func (l *loop) invalid(c *conn) {
	if len(l.client.load.Slots(c.number)) > 0 {
		l.client.load.Slots(c.number)[0].Fail(contract.Invalid)
	}
	l.lose(c)
}

// lose gives up a broken connection and counts what was in flight on it.
func (l *loop) lose(c *conn) {
	c.dead = true
	for ; c.flying > 0; c.flying-- {
		c.flights[c.head].slot.Fail(contract.Peer)
		c.head = (c.head + 1) % len(c.flights)
		l.active--
	}
	if len(c.flights) > 0 {
		l.client.alive.Add(-1)
	}
	l.table[c.fd] = nil
	c.close()
}
