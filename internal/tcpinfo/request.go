package tcpinfo

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// The numbers of linux/inet_diag.h, which package unix lacks.
const (
	getSock       = 18 // TCPDIAG_GETSOCK
	attrBytecode  = 1  // INET_DIAG_REQ_BYTECODE
	attrInfo      = 2  // INET_DIAG_INFO
	attrCong      = 4  // INET_DIAG_CONG
	established   = 1  // TCP_ESTABLISHED
	beginning     = 3  // TCP_SYN_RECV
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
