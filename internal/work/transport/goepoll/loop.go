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
	scratch []byte
	conns   []*conn
	table   []*conn              // by file descriptor
	idle    []waiting            // before the load begins
	agenda  load.Agenda[waiting] // what is due later
	again   []*conn              // stopped for fairness, not because they were blocked
	resumed []*conn              // those of the last round; its memory is the next one's
	active  int                  // slots not yet let go
	now     int64
}

// conn is one connection.
type conn struct {
	number   int
	fd       int
	flow     flow
	trial    *trial // while connecting
	full     bool   // the kernel takes no more until its next writable edge
	readable bool   // an edge came and not all is read
	broken   bool   // read to the end: no further edge will come
	again    bool   // in the loop's list of that name
	dead     bool
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
				c.note(e.Events)
				l.serve(c)
			}
		}
		l.resume()
		l.fire()
	}
}

// timeout is how long the loop may sleep: until the next due.
func (l *loop) timeout() time.Duration {
	switch {
	case len(l.again) > 0:
		return 0
	case l.agenda.Len() == 0:
		return forever
	}
	due, _ := l.agenda.Peek()
	return time.Duration(max(0, due-load.Now()))
}

// resume gives those another turn that had theirs and were not done.
func (l *loop) resume() {
	l.again, l.resumed = l.resumed[:0], l.again
	for _, c := range l.resumed {
		c.again = false
		l.now = load.Now()
		l.serve(c)
	}
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
	c.flow.queue(slot)
	l.push(c)
}

// note takes in what an edge said.
func (c *conn) note(events uint32) {
	if events&unix.EPOLLOUT != 0 {
		c.full = false
	}
	c.broken = c.broken || events&broken != 0
	c.readable = c.readable || c.broken || events&unix.EPOLLIN != 0
}

// turns bounds how long one connection may hold its thread, in system calls
// each way.
const turns = 16

// serve moves a connection's bytes until it is drained, blocked or has had its
// turn.
func (l *loop) serve(c *conn) {
	l.push(c)
	l.pull(c)
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
		if c.dead || c.full || !c.flow.unsent() {
			return
		}
		n, errno := send(c.fd, c.flow.outgoing(l.now))
		switch {
		case errno == syscall.EAGAIN:
			c.full = true
			return
		case errno != 0:
			l.lose(c, contract.Peer)
			return
		}
		if c.flow.written(n); c.flow.between() && c.flow.unsent() {
			l.now = load.Now() // the next message is sent now, not when this one was
		}
	}
	l.remember(c)
}

// pull reads what has come.
func (l *loop) pull(c *conn) {
	for range turns {
		if c.dead || !c.readable {
			return
		}
		n, errno := read(c.fd, l.scratch)
		switch {
		case errno == syscall.EAGAIN:
			c.readable = false
			return
		case errno == syscall.EINTR:
			continue
		case errno != 0 || n == 0:
			l.lose(c, contract.Peer)
			return
		}
		// A short read has drained the socket; more raises a new edge.
		c.readable = n == len(l.scratch) || c.broken
		l.complete(c, n)
	}
	l.remember(c)
}

// complete accounts for n received bytes.
func (l *loop) complete(c *conn, n int) {
	if c.flow.received(n) != nil {
		l.lose(c, contract.Invalid)
		return
	}
	done, ok := c.flow.completed()
	if !ok {
		return
	}
	l.now = load.Now()
	for ; ok; done, ok = c.flow.completed() {
		done.slot.Done(done.sent, l.now, c.flow.work.Down.Bytes)
		l.next(c, done.slot)
	}
}

// lose gives up a connection; what was in flight on it fails with kind, and
// where nothing was, a peer that says what nobody asked for still counts once.
func (l *loop) lose(c *conn, kind contract.ErrorKind) {
	c.dead = true
	slots := l.client.load.Slots(c.number)
	lost, ok := c.flow.abandoned()
	if !ok && kind == contract.Invalid && len(slots) > 0 {
		slots[0].Fail(kind)
	}
	for ; ok; lost, ok = c.flow.abandoned() {
		lost.slot.Fail(kind)
		l.active--
	}
	if len(slots) > 0 {
		l.client.alive.Add(-1)
	}
	l.table[c.fd] = nil
	c.close()
}
