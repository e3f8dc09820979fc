package relay

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// queueNumber is the same in every namespace: queues are the namespace's own.
const queueNumber = 0

// The words of nfnetlink_queue that x/sys lacks.
// Source: include/uapi/linux/netfilter/nfnetlink_queue.h, enums of those names.
const (
	msgVerdict = unix.NFNL_SUBSYS_QUEUE<<8 | 1
	msgConfig  = unix.NFNL_SUBSYS_QUEUE<<8 | 2

	attrPacketHdr  = 1
	attrVerdictHdr = 2

	configCmd    = 1
	configParams = 2
	configMaxLen = 3
	configMask   = 4
	configFlags  = 5

	cmdBind  = 1
	copyMeta = 1
	flagGSO  = 1 << 2

	verdictDrop   = 0
	verdictAccept = 1
)

const (
	headerSize  = unix.SizeofNlMsghdr + 4 // and nfgenmsg
	verdictSize = headerSize + 4 + 8      // and an attribute of a verdict and a packet's number
)

const (
	unread = 32 << 20 // bytes of announcements, of about 1 KiB; more end the relay (ENOBUFS)
	maxLen = 1 << 20  // packets in the kernel's queue, which would drop more without a word: more than can be
)

// queue is an NFQUEUE of one namespace. One goroutine uses it.
type queue struct {
	fd     int
	inbox  [4096]byte
	outbox []byte // verdicts that are decided but not given
}

// openQueue binds the queue of a namespace.
func openQueue(namespace int) (*queue, error) {
	conn, err := netlink.Dial(unix.NETLINK_NETFILTER, &netlink.Config{NetNS: namespace})
	if err != nil {
		return nil, fmt.Errorf("open netfilter socket: %w", err)
	}
	q := &queue{fd: -1}
	if err = q.setUp(conn); err != nil {
		err = fmt.Errorf("set up queue %d: %w", queueNumber, err)
	}
	// The runtime's poller knows conn, and every packet would wake it for nothing: from
	// here on the socket is q's alone.
	if err = errors.Join(err, conn.Close()); err == nil {
		return q, nil
	}
	if q.fd >= 0 {
		err = errors.Join(err, q.close())
	}
	return nil, err
}

func (q *queue) setUp(conn *netlink.Conn) error {
	be := binary.BigEndian
	for _, attributes := range [][]netlink.Attribute{
		{{Type: configCmd, Data: []byte{cmdBind, 0, 0, 0}}},
		{
			{Type: configParams, Data: []byte{0, 0, 0, 0, copyMeta}},
			{Type: configMaxLen, Data: be.AppendUint32(nil, maxLen)},
			{Type: configFlags, Data: be.AppendUint32(nil, flagGSO)},
			{Type: configMask, Data: be.AppendUint32(nil, flagGSO)},
		},
	} {
		text, err := netlink.MarshalAttributes(attributes)
		if err != nil {
			return err
		}
		header := netlink.Header{Type: msgConfig, Flags: netlink.Request | netlink.Acknowledge}
		if _, err := conn.Execute(netlink.Message{Header: header, Data: append(genericHeader(nil), text...)}); err != nil {
			return err
		}
	}
	if err := conn.SetReadBuffer(unread); err != nil {
		return err
	}
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var copied error
	err = raw.Control(func(fd uintptr) { q.fd, copied = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) })
	return errors.Join(err, copied)
}

// genericHeader appends nfgenmsg: no family, version 0, the queue.
func genericHeader(b []byte) []byte {
	return binary.BigEndian.AppendUint16(append(b, unix.AF_UNSPEC, 0), queueNumber)
}

// next returns the number of the packet that is announced next; false when there is none.
func (q *queue) next() (id uint32, some bool, err error) {
	for {
		n, err := unix.Read(q.fd, q.inbox[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return 0, false, nil
		case err == nil:
			id, err = parse(q.inbox[:n])
		}
		if errors.Is(err, unix.ENOENT) {
			continue // of a verdict: the kernel drops what it holds when the rule or the interface goes
		}
		if err != nil {
			return 0, false, fmt.Errorf("read queue: %w", err)
		}
		return id, true, nil
	}
}

// parse returns a packet's number, or the error that a message bears.
func parse(b []byte) (id uint32, err error) {
	if len(b) < headerSize {
		return 0, fmt.Errorf("message of %d bytes, expected at least %d", len(b), headerSize)
	}
	if binary.NativeEndian.Uint16(b[4:]) == unix.NLMSG_ERROR {
		return 0, unix.Errno(-int32(binary.NativeEndian.Uint32(b[unix.SizeofNlMsghdr:])))
	}
	attributes, err := netlink.NewAttributeDecoder(b[headerSize:])
	if err != nil {
		return 0, err
	}
	for attributes.Next() {
		if value := attributes.Bytes(); attributes.Type() == attrPacketHdr && len(value) >= 4 {
			return binary.BigEndian.Uint32(value), nil
		}
	}
	return 0, errors.Join(errors.New("packet without a number"), attributes.Err())
}

// decide lets a packet go or drops it; flush tells the kernel.
func (q *queue) decide(id uint32, drop bool) {
	verdict := uint32(verdictAccept)
	if drop {
		verdict = verdictDrop
	}
	b := binary.NativeEndian.AppendUint32(q.outbox, verdictSize)
	b = binary.NativeEndian.AppendUint16(b, msgVerdict)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST)
	b = genericHeader(append(b, 0, 0, 0, 0, 0, 0, 0, 0)) // sequence and port: nobody asks
	b = binary.NativeEndian.AppendUint16(b, verdictSize-headerSize)
	b = binary.NativeEndian.AppendUint16(b, attrVerdictHdr)
	b = binary.BigEndian.AppendUint32(b, verdict)
	q.outbox = binary.BigEndian.AppendUint32(b, id)
}

// flush gives the verdicts. The kernel receives the packets before it returns.
func (q *queue) flush() error {
	const most = 256 * verdictSize // in one write
	for rest := q.outbox; len(rest) > 0; {
		n := min(len(rest), most)
		if _, err := unix.Write(q.fd, rest[:n]); err != nil {
			return fmt.Errorf("give verdicts: %w", err)
		}
		rest = rest[n:]
	}
	q.outbox = q.outbox[:0]
	return nil
}

func (q *queue) close() error { return unix.Close(q.fd) }
