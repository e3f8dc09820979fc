package gonet

import (
	"io"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// step is one attempt at a non-blocking system call that package net does not
// make by itself.
type step interface {
	// try returns EAGAIN when there is nothing to do yet, and 0 at the end.
	try(fd int, limit int64) (int64, syscall.Errno)
	release()
}

// stepping is a receiver that repeats a step until it has something, and sleeps
// in the runtime's poller meanwhile, as a Read does.
type stepping struct {
	raw  syscall.RawConn
	step step
	zero *zerocopy // not nil where the runtime's poller will not do

	attempt  func(fd uintptr) bool // bound once: a method value allocates
	limit, n int64
	errno    syscall.Errno
}

func newStepping(raw syscall.RawConn, what step, zero *zerocopy) *stepping {
	s := &stepping{raw: raw, step: what, zero: zero}
	s.attempt = s.once
	return s
}

func (s *stepping) once(fd uintptr) bool {
	s.n, s.errno = s.step.try(int(fd), s.limit)
	return s.errno != syscall.EAGAIN && s.errno != syscall.EINTR
}

func (s *stepping) receive(limit int64) (int64, error) {
	s.limit = limit
	wait := s.raw.Read
	if s.zero != nil {
		wait = s.zero.wait
	}
	err := wait(s.attempt)
	switch {
	case err != nil:
		return 0, err
	case s.errno != 0:
		return 0, os.NewSyscallError("receive", s.errno)
	case s.n == 0:
		return 0, io.EOF
	}
	return s.n, nil
}

func (s *stepping) release() { s.step.release() }

// take is recv with flags: MSG_TRUNC counts bytes and leaves the buffer alone.
type take struct {
	into  []byte
	flags uintptr
}

func (t *take) try(fd int, limit int64) (int64, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(t.into))),
		uintptr(min(limit, int64(len(t.into)))), t.flags|syscall.MSG_DONTWAIT, 0, 0)
	return int64(n), errno
}

func (*take) release() {}

// pipe is what splice needs between two descriptors. One goroutine uses it.
type pipe struct {
	in, out int
	holds   int64
	most    int64
}

// newPipe makes a pipe of about size bytes; the kernel gives less to a user who
// has many (pipe(7), pipe-user-pages-soft), and then less is moved at once.
func newPipe(size int64) (*pipe, error) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	p := &pipe{out: ends[0], in: ends[1], most: size}
	_, _ = unix.FcntlInt(uintptr(p.in), unix.F_SETPIPE_SZ, int(size)) // refused, it stays as it is
	return p, nil
}

// fill moves bytes from a socket into the pipe.
func (p *pipe) fill(from int, limit int64) (int64, syscall.Errno) {
	n, errno := splice(from, p.in, min(limit, p.most))
	p.holds += max(0, n)
	return n, errno
}

// empty moves them on; not always all of them.
func (p *pipe) empty(to int) (int64, syscall.Errno) {
	n, errno := splice(p.out, to, p.holds)
	p.holds -= max(0, n)
	return n, errno
}

func (p *pipe) release() {
	_ = unix.Close(p.in)  // nobody else has it,
	_ = unix.Close(p.out) // and what it holds is lost with the connection
}

func splice(from, to int, n int64) (int64, syscall.Errno) {
	moved, _, errno := syscall.RawSyscall6(unix.SYS_SPLICE, uintptr(from), 0, uintptr(to), 0, uintptr(n),
		unix.SPLICE_F_MOVE|unix.SPLICE_F_NONBLOCK)
	return int64(moved), errno
}

// discard splices into /dev/null.
type discard struct {
	*pipe
	null *os.File
}

func (d *discard) try(fd int, limit int64) (int64, syscall.Errno) {
	n, errno := d.fill(fd, limit)
	for d.holds > 0 {
		if _, failed := d.empty(int(d.null.Fd())); failed != 0 && failed != syscall.EINTR {
			return 0, failed
		}
	}
	return n, errno
}
