package relay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"strings"

	"golang.org/x/sys/unix"

	"netdyno/internal/each"
)

// errGone ends a relay whose interface is removed, by itself or with its
// namespace or its peer.
var errGone = errors.New("the interface is gone")

// link hears when its interface is removed. One goroutine uses it.
type link struct {
	fd    int
	index int32
	inbox [1 << 14]byte
}

// watchLink watches the interface of that name in the thread's namespace.
func watchLink(name string) (*link, error) {
	// First the watch, then the look: a removal in between is heard.
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("open rtnetlink socket: %w", err)
	}
	l := &link{fd: fd}
	group := &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1 << (unix.RTNLGRP_LINK - 1)}
	if err := unix.Bind(fd, group); err != nil {
		return nil, errors.Join(fmt.Errorf("watch interfaces: %w", err), l.close())
	}
	found, err := net.InterfaceByName(name)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("find interface %q among %s: %w", name, names(), err), l.close())
	}
	l.index = int32(found.Index)
	return l, nil
}

// names lists the interfaces of the thread's namespace.
func names() string {
	all, err := net.Interfaces()
	if err != nil {
		return "interfaces that cannot be listed"
	}
	out := each.Of(all, func(i net.Interface) string { return i.Name })
	return strings.Join(out, ", ")
}

// check reads the news and returns errGone when the interface is removed.
func (l *link) check() error {
	for {
		n, err := unix.Read(l.fd, l.inbox[:])
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ENOBUFS):
			// A removal that is missed in a flood of news leaves a relay that
			// waits for packets until it is closed, no more.
			continue
		case errors.Is(err, unix.EAGAIN):
			return nil
		case err != nil:
			return fmt.Errorf("watch interfaces: %w", err)
		}
		for b := l.inbox[:n]; len(b) >= unix.SizeofNlMsghdr+unix.SizeofIfInfomsg; {
			size := int(binary.NativeEndian.Uint32(b))
			kind := binary.NativeEndian.Uint16(b[4:])
			index := int32(binary.NativeEndian.Uint32(b[unix.SizeofNlMsghdr+4:]))
			if kind == unix.RTM_DELLINK && index == l.index {
				return errGone
			}
			b = b[min(max(size, unix.SizeofNlMsghdr), len(b)):]
		}
	}
}

func (l *link) close() error { return unix.Close(l.fd) }
