package quicwire

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// tune gives a socket the buffers that the user asks for. quic-go asks for buffers of its
// own when it takes the socket over, so tune is called after that.
func tune(conn *net.UDPConn, buffers wire.Buffers) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = buffers.Apply(int(fd)) })
	return errors.Join(err, failed)
}

// report writes into effective what the kernel made of a socket: its buffers, and
// whether it takes several datagrams in one call. The error is of kind setup.
func report(conn *net.UDPConn, effective map[string]any, asked load.Options) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return load.Failure(contract.SetupFailed, err)
	}
	var failed error
	err = raw.Control(func(fd uintptr) { failed = reportFD(int(fd), effective, asked) })
	if err = errors.Join(err, failed); err != nil {
		return load.Failure(contract.SetupFailed, fmt.Errorf("read the settings of a UDP socket: %w", err))
	}
	return nil
}

func reportFD(fd int, effective map[string]any, asked load.Options) error {
	for name, option := range map[string]int{sendBuffer: unix.SO_SNDBUF, receiveBuffer: unix.SO_RCVBUF} {
		twice, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
		if err != nil {
			return err
		}
		effective[name] = int64(twice / 2) // the kernel doubles it for its own bookkeeping (socket(7))
	}
	_, err := unix.GetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT)
	effective[offload] = err == nil && asked.Bool(offload)
	return nil
}

// leastDatagram is the payload that every path of QUIC must carry (RFC 9000, section
// 14).
const leastDatagram = 1200

// wideEnough returns EMSGSIZE where the kernel knows that a connected socket's path
// carries no datagram that QUIC begins with. quic-go takes its refusal for a lost
// packet, and would send it again until it gives up.
func wideEnough(conn *net.UDPConn, peer netip.Addr) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	level, option, headers := unix.IPPROTO_IP, unix.IP_MTU, 20+8
	if peer.Is6() && !peer.Is4In6() {
		level, option, headers = unix.IPPROTO_IPV6, unix.IPV6_MTU, 40+8
	}
	mtu := 0
	err = raw.Control(func(fd uintptr) {
		mtu, _ = unix.GetsockoptInt(int(fd), level, option) // 0 where the kernel does not say
	})
	if err == nil && mtu > 0 && mtu < leastDatagram+headers {
		err = fmt.Errorf("packets of at most %d B: %w", mtu, unix.EMSGSIZE)
	}
	return err
}

// bindLate lets the kernel choose the local port at connect, where it knows the
// peer.
func bindLate(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	})
	return errors.Join(err, failed)
}
