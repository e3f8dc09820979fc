package goepoll

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"

	"netdyno/internal/work/wire"
)

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
