package goepoll

import (
	"net/netip"

	"golang.org/x/sys/unix"

	"netdyno/internal/work/wire"
)

// backlog is the accept queue that is asked for; the kernel caps it at
// net.core.somaxconn.
const backlog = 16384

// listenOn opens a non-blocking listening socket and returns where it listens.
func listenOn(at netip.AddrPort, reuseport bool, buffers wire.Buffers) (int, netip.AddrPort, error) {
	fd, err := newSocket(at.Addr(), buffers)
	if err != nil {
		return 0, at, err
	}
	fail := func(err error) (int, netip.AddrPort, error) {
		_ = unix.Close(fd)
		return 0, at, err
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err != nil {
		return fail(err)
	}
	if reuseport {
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
			return fail(err)
		}
	}
	if err := unix.Bind(fd, sockaddrOf(at)); err != nil {
		return fail(err)
	}
	if err := unix.Listen(fd, backlog); err != nil {
		return fail(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return fail(err)
	}
	return fd, netip.AddrPortFrom(addressOf(name), portOf(name)), nil
}

// newSocket opens a non-blocking socket with the buffers.
func newSocket(peer netip.Addr, buffers wire.Buffers) (int, error) {
	family := unix.AF_INET
	if peer.Is6() {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := buffers.Apply(fd); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func noDelay(fd int) error {
	return unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
}

func sockaddrOf(a netip.AddrPort) unix.Sockaddr {
	if a.Addr().Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
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

func portOf(s unix.Sockaddr) uint16 {
	switch s := s.(type) {
	case *unix.SockaddrInet4:
		return uint16(s.Port)
	case *unix.SockaddrInet6:
		return uint16(s.Port)
	}
	return 0
}

// netipPort is an address to bind with the port left to the kernel.
func netipPort(a netip.Addr) netip.AddrPort { return netip.AddrPortFrom(a, 0) }
