package tcpinfo

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Endings tells what connections had carried when they ended, which no dump shows
// any more. One goroutine at a time may use it.
type Endings struct{ fd int }

// The numbers of linux/sock_diag.h, which package unix lacks.
const (
	byFamily    = 20 // SOCK_DIAG_BY_FAMILY, which such a message is of
	tcpEndings  = 1  // SKNLGRP_INET_TCP_DESTROY
	tcp6Endings = 3  // SKNLGRP_INET6_TCP_DESTROY
)

// endingsBytes is how much may wait to be read: some 10,000 connections.
const endingsBytes = 8 << 20

// WatchEndings begins to listen for the ends of all TCP connections of the caller's
// network namespace. It needs no privilege. Close ends it.
func WatchEndings() (*Endings, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_INET_DIAG)
	if err != nil {
		return nil, fmt.Errorf("open a netlink socket: %w", err)
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, endingsBytes) != nil {
		_ = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, endingsBytes) // as much as the system lets it have
	}
	groups := &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1<<(tcpEndings-1) | 1<<(tcp6Endings-1)}
	if err := unix.Bind(fd, groups); err != nil {
		return nil, errors.Join(fmt.Errorf("ask for the ends of connections: %w", err), unix.Close(fd))
	}
	return &Endings{fd}, nil
}

// Take gives every connection that has ended since the last call to take, without
// waiting. The error says that the kernel had more than it could keep, or cannot tell.
func (e *Endings) Take(take func(Socket)) error {
	buf := make([]byte, bufSize)
	for {
		n, from, err := unix.Recvfrom(e.fd, buf, 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return nil
		case errors.Is(err, unix.ENOBUFS):
			return errors.New("more connections ended than the kernel keeps for a reader")
		case err != nil:
			return fmt.Errorf("receive the ends of connections: %w", err)
		}
		if sender, ok := from.(*unix.SockaddrNetlink); !ok || sender.Pid != 0 {
			continue // not from the kernel
		}
		message := buf[:n]
		if n < unix.SizeofNlMsghdr || binary.NativeEndian.Uint16(message[4:]) != byFamily {
			continue
		}
		s, err := parse(message[unix.SizeofNlMsghdr:])
		if err != nil {
			return err
		}
		take(s)
	}
}

// Close ends the watch.
func (e *Endings) Close() error { return unix.Close(e.fd) }
