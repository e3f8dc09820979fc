package goepoll

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"netdyno/internal/work/wire"
)

// interest is what every connection is registered for, once. It is edge-triggered,
// so that a busy connection needs no epoll_ctl.
const interest = unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET

// broken are the events after which a connection must be read to its end.
const broken = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR

// poller is one epoll instance and the eventfd that wakes it. One thread waits; any
// goroutine may wake that thread.
type poller struct {
	fd     int
	waker  int
	events [256]syscall.EpollEvent
	busy   bool // the last wait found work at once: poll before sleeping

	closing sync.Mutex // a closed waker's number may be another socket's by now
	closed  bool
}

func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("epoll_create1: %w", err)
	}
	waker, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = unix.Close(fd)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	p := &poller{fd: fd, waker: waker}
	return p, p.addSocket(waker, unix.EPOLLIN|unix.EPOLLET)
}

// addSocket registers fd; its events come back with the same number.
func (p *poller) addSocket(fd int, events uint32) error {
	if err := unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)}); err != nil {
		return fmt.Errorf("epoll_ctl add: %w", err)
	}
	return nil
}

// wake makes the current or next wait return.
func (p *poller) wake() {
	p.closing.Lock()
	defer p.closing.Unlock()
	if p.closed {
		return
	}
	one := [8]byte{1}
	_, _ = unix.Write(p.waker, one[:]) // full means it is awake already
}

func (p *poller) close() {
	p.closing.Lock()
	defer p.closing.Unlock()
	p.closed = true
	_ = unix.Close(p.fd)
	_ = unix.Close(p.waker)
}

// forever is the timeout of a wait that only an event ends.
const forever = time.Duration(-1)

// wait returns the next events; none when the timeout passes or a signal came.
// A loop that was busy polls first, without sleeping and without telling Go's
// scheduler: two scheduler hand-offs for each wait are a good part of what raw epoll
// is meant to save. The loop's spare P (see loops) keeps the rest of the program
// running meanwhile.
func (p *poller) wait(timeout time.Duration) []syscall.EpollEvent {
	if p.busy || timeout == 0 {
		n, _, _ := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(p.fd),
			uintptr(unsafe.Pointer(&p.events)), uintptr(len(p.events)), 0, 0, 0)
		if n := int(n); n > 0 {
			return p.events[:n]
		}
		p.busy = false
		if timeout == 0 {
			return nil
		}
	}
	var limit *unix.Timespec
	if timeout >= 0 {
		ts := unix.NsecToTimespec(int64(timeout))
		limit = &ts
	}
	n, _, _ := syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd),
		uintptr(unsafe.Pointer(&p.events)), uintptr(len(p.events)), uintptr(unsafe.Pointer(limit)), 0, 0)
	if n := int(n); n > 0 {
		p.busy = n > 1
		return p.events[:n]
	}
	return nil
}

// readSocket reads from a non-blocking socket: it returns 0 and no error at the end, EAGAIN
// when the socket is drained. It is a raw system call because it never blocks, and
// recvfrom because read would pass through the file layer first.
func readSocket(fd int, into []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(into))),
		uintptr(len(into)), 0, 0, 0)
	return int(n), errno
}

// send writes to a non-blocking socket and may take only a part.
func send(fd int, from []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(from))),
		uintptr(len(from)), syscall.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// exactTimers asks the kernel not to round this thread's wake-ups. Its default slack
// of 50 µs would be lag in every open loop.
func exactTimers() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // where it fails, the lag shows it
}

// listenOn opens a non-blocking listening socket and returns where it listens.
func listenOn(address string, reuseport bool, buffers wire.Buffers) (int, string, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = buffers.Apply(int(fd))
			if reuseport && failed == nil {
				failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
			}
		})
		return errors.Join(err, failed)
	}}
	config.SetMultipathTCP(false) // accept4(2) takes plain connections from it
	l, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return -1, address, err
	}
	defer func() { _ = l.Close() }() // its socket stays open by the other descriptor
	fd, err := detach(l.(*net.TCPListener))
	return fd, l.Addr().String(), err
}

// detach returns another descriptor of a connection's socket, non-blocking as
// package net has made it. It stays open when the connection is closed.
func detach(conn syscall.Conn) (int, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return -1, err
	}
	copied, failed := -1, error(nil)
	err = raw.Control(func(fd uintptr) { copied, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	return copied, errors.Join(err, failed)
}

func noDelay(fd int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
}

func addressOf(s unix.Sockaddr) netip.Addr {
	switch s := s.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrFrom4(s.Addr)
	case *unix.SockaddrInet6:
		return netip.AddrFrom16(s.Addr).Unmap()
	}
	return netip.Addr{}
}
