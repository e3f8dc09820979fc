package tcpinfo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	answerTimeout = 2 * time.Second // for each part of the answer; the kernel sends the next one while it is asked
	bufSize       = 64 << 10        // the kernel fills at most 32 KiB at a time
)

// ask sends one request for a dump and gives every answer to take, whose error
// ends it. The bytes are valid until take returns.
func ask(request []byte, take func(answer []byte) error) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return fmt.Errorf("open a netlink socket: %w", err)
	}
	defer func() { _ = unix.Close(fd) }() // nothing is left to be sent
	limit := unix.NsecToTimeval(int64(answerTimeout))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &limit); err != nil {
		return fmt.Errorf("bound the wait for an answer: %w", err)
	}
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("send the request: %w", err)
	}
	buf := make([]byte, bufSize)
	for {
		n, from, err := unix.Recvfrom(fd, buf, 0)
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return fmt.Errorf("wait for an answer: none came within %s", answerTimeout)
		case err != nil:
			return fmt.Errorf("receive an answer: %w", err)
		}
		if sender, ok := from.(*unix.SockaddrNetlink); !ok || sender.Pid != 0 {
			continue // not from the kernel
		}
		if done, err := each(buf[:n], take); done || err != nil {
			return err
		}
	}
}

// each gives the answers of one datagram to take. It reports true after the
// last one of the dump.
func each(datagram []byte, take func([]byte) error) (done bool, err error) {
	native := binary.NativeEndian
	for len(datagram) >= unix.SizeofNlMsghdr {
		length := int(native.Uint32(datagram))
		if length < unix.SizeofNlMsghdr || length > len(datagram) {
			return false, fmt.Errorf("read an answer: a message of %d bytes where %d are left", length, len(datagram))
		}
		body := datagram[unix.SizeofNlMsghdr:length]
		switch native.Uint16(datagram[4:]) {
		case unix.NLMSG_DONE:
			if len(body) >= 4 && native.Uint32(body) != 0 {
				return true, refusal(body) // the walk broke off
			}
			return true, nil
		case unix.NLMSG_ERROR:
			return true, refusal(body)
		case getSock:
			if err := take(body); err != nil {
				return false, err
			}
		}
		datagram = datagram[min((length+unix.NLMSG_ALIGNTO-1)&^(unix.NLMSG_ALIGNTO-1), len(datagram)):]
	}
	return false, nil
}

// refusal is the kernel's word for a request that it does not answer.
func refusal(body []byte) error {
	if len(body) < 4 {
		return errors.New("the kernel refused the request without a reason")
	}
	errno := unix.Errno(-int32(binary.NativeEndian.Uint32(body)))
	switch errno {
	case unix.ENOENT:
		return fmt.Errorf("the kernel has no tcp_diag: %w", errno)
	case unix.EINVAL:
		return fmt.Errorf("the kernel refused the request; filters by port need Linux 4.16: %w", errno)
	}
	return fmt.Errorf("the kernel refused the request: %w", errno)
}
