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

// The numbers of linux/inet_diag.h, which package unix lacks.
const (
	getSock       = 18 // TCPDIAG_GETSOCK
	attrBytecode  = 1  // INET_DIAG_REQ_BYTECODE
	attrInfo      = 2  // INET_DIAG_INFO
	attrCong      = 4  // INET_DIAG_CONG
	attrOptions   = 22 // INET_DIAG_SOCKOPT; Linux 5.10
	established   = 1  // TCP_ESTABLISHED
	beginning     = 3  // TCP_SYN_RECV
	listening     = 10 // TCP_LISTEN
	requestLength = 60 // struct inet_diag_req
	statesAt      = 52 // … idiag_states
	extensionAt   = 3  // … idiag_ext
)

// The operations of the kernel's port filter, struct inet_diag_bc_op.
const (
	jump        = 1  // INET_DIAG_BC_JMP
	sourceIs    = 11 // INET_DIAG_BC_S_EQ; Linux 4.16
	destination = 12 // INET_DIAG_BC_D_EQ
	opLength    = 4
	testLength  = 2 * opLength // the port is in a second operation
)

// request returns the netlink message that asks for q's sockets. It is the
// first version of the request, TCPDIAG_GETSOCK, because only that has no
// address family: SOCK_DIAG_BY_FAMILY would take two walks.
func (q Query) request() []byte {
	native := binary.NativeEndian
	message := make([]byte, unix.SizeofNlMsghdr+requestLength)
	body := message[unix.SizeofNlMsghdr:]
	states := uint32(1 << established)
	if q.Beginning {
		states |= 1 << beginning
	}
	if q.listening {
		states = 1 << listening
	}
	native.PutUint32(body[statesAt:], states)
	if !q.Bare {
		body[extensionAt] = 1<<(attrInfo-1) | 1<<(attrCong-1)
	}
	if code := q.bytecode(); len(code) > 0 {
		message = native.AppendUint16(message, uint16(unix.SizeofRtAttr+len(code)))
		message = native.AppendUint16(message, attrBytecode)
		message = append(message, code...)
	}
	native.PutUint32(message[0:], uint32(len(message)))
	native.PutUint16(message[4:], getSock)
	native.PutUint16(message[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	return message
}

// test is one instruction of the kernel's port filter.
type test struct {
	code byte
	port uint16
}

// bytecode returns the program that the kernel runs for each socket. Each test
// goes on to the next instruction when it holds and jumps by its other offset
// when not; the socket is taken where the program ends exactly, and refused
// where a jump goes beyond the end.
//
//	if local port is A: jump to the end
//	if local port is B: jump to the end
//	if remote port is C: end, else beyond it
//
// Of ports to be left out it is
//
//	if local port is A: jump beyond the end
//	if local port is B: jump beyond the end
func (q Query) bytecode() []byte {
	var tests []test
	beyond := 0
	for _, port := range q.Without {
		tests = append(tests, test{sourceIs, port})
		beyond = opLength
	}
	if len(tests) == 0 {
		for _, port := range q.LocalPorts {
			tests = append(tests, test{sourceIs, port})
		}
		for _, port := range q.RemotePorts {
			tests = append(tests, test{destination, port})
		}
	}
	const step = testLength + opLength // a test and the jump behind it
	var program []byte
	operation := func(code, yes byte, no uint16) {
		program = append(program, code, yes)
		program = binary.NativeEndian.AppendUint16(program, no)
	}
	for i, t := range tests {
		operation(t.code, testLength, step)
		operation(0, 0, t.port)
		left := len(tests) - 1 - i
		switch {
		case beyond > 0:
			operation(jump, opLength, uint16(opLength+left*step+beyond))
		case left > 0:
			operation(jump, opLength, uint16(left*step)) // its own length is what the last test's missing jump saves
		}
	}
	return program
}
