package gonet

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/flow"
)

// client opens a flow.Runner's connections.
type client struct {
	*plan
	dialer *wire.Dialer
	conns  []*connection
}

// Client implements load.Transport.
func (Transport) Client(setup contract.Setup) (load.Client, error) {
	p, err := newPlan(setup)
	if err != nil {
		return nil, err
	}
	dialer, err := wire.NewDialer(setup)
	if err != nil {
		return nil, err
	}
	l, err := load.NewForGoroutines(setup)
	if err != nil {
		return nil, err
	}
	p.work.Draw(l)
	c := &client{plan: p, dialer: dialer, conns: make([]*connection, len(dialer.Routes()))}
	runner := flow.NewRunner(l, p.work, func(i int) flow.Conn { return c.conns[i] })
	return wire.Connect(runner, c, contract.Ready{Options: setup.Options})
}

// Open implements wire.Opener.
func (c *client) Open() error {
	return wire.Each(len(c.conns), func(i int) error {
		conn, err := c.work.Dial(c.dialer, i)
		if err != nil {
			return err
		}
		c.conns[i], err = c.equip(conn, &c.work.Up, 0)
		return err
	})
}

// Close implements wire.Opener.
func (c *client) Close() { c.dialer.Close() }

// connection is a connection that sends and receives as the options say.
type connection struct {
	net.Conn
	read, write func([]byte) (int, error)
	buffer      []byte
}

// Read implements net.Conn.
func (c *connection) Read(into []byte) (int, error) { return c.read(into) }

// Write implements net.Conn.
func (c *connection) Write(from []byte) (int, error) { return c.write(from) }

// Receive implements flow.Conn.
func (c *connection) Receive(int64) (int, error) { return c.read(c.buffer) }

// truncating is option receive=truncate: the kernel counts the bytes that it
// drops. One goroutine uses it.
type truncating struct {
	conn  net.Conn
	raw   syscall.RawConn
	first int64 // bytes that must be read before: they are verified

	attempt func(fd uintptr) bool // bound once: a method value allocates
	into    []byte
	n       int
	errno   syscall.Errno
}

func newTruncating(conn net.Conn, raw syscall.RawConn, first int64) *truncating {
	t := &truncating{conn: conn, raw: raw, first: first}
	t.attempt = t.once
	return t
}

func (t *truncating) once(fd uintptr) bool {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(unsafe.SliceData(t.into))),
		uintptr(len(t.into)), unix.MSG_TRUNC|syscall.MSG_DONTWAIT, 0, 0)
	t.n, t.errno = int(n), errno
	return errno != syscall.EAGAIN && errno != syscall.EINTR
}

// readTruncated drops up to len(into) bytes and leaves into as it is.
func (t *truncating) readTruncated(into []byte) (int, error) {
	if t.first > 0 {
		n, err := t.conn.Read(into)
		t.first -= int64(n)
		return n, err
	}
	t.into = into
	switch err := t.raw.Read(t.attempt); {
	case err != nil:
		return 0, err
	case t.errno != 0:
		return 0, os.NewSyscallError("recv", t.errno)
	case t.n == 0:
		return 0, io.EOF
	}
	return t.n, nil
}
