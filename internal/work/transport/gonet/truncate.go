package gonet

import (
	"io"
	"net"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

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
