package relay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// queueNumber is the same in every namespace: queues are the namespace's own.
const queueNumber = 0

// The words of nfnetlink_queue that x/sys lacks.
// Source: include/uapi/linux/netfilter/nfnetlink_queue.h, enums of those names.
const (
	msgPacket       = unix.NFNL_SUBSYS_QUEUE << 8
	msgVerdict      = unix.NFNL_SUBSYS_QUEUE<<8 | 1
	msgConfig       = unix.NFNL_SUBSYS_QUEUE<<8 | 2
	msgVerdictBatch = unix.NFNL_SUBSYS_QUEUE<<8 | 3

	attrPacketHdr  = 1
	attrVerdictHdr = 2
	attrTimestamp  = 4

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
	maxVerdicts = 256                     // in one write
)

// kernelMaxLen is a bound of the kernel's queue that is never reached, since
// what it drops there is not announced by a gap in the packets' numbers. We stop
// reading at bounds.held, and an announcement takes 512 bytes of bounds.unread,
// which the kernel doubles, or more: 65,536 + 131,072 at the most.
const kernelMaxLen = 1 << 20

// announced is a packet as the queue announces it.
type announced struct {
	id      uint32
	arrival time.Time // by the wall clock; zero where the kernel took no time
}

// queue is an NFQUEUE of one namespace. One goroutine uses it.
//
// It is a socket of our own rather than a netlink.Conn: those are known to the
// runtime's poller, which every packet would wake for nothing.
type queue struct {
	fd     int
	inbox  [4096]byte
	outbox []byte // verdicts that are decided but not given
}

// openQueue binds the queue in the thread's namespace, with room for that many
// bytes of announcements.
func openQueue(unread int) (*queue, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_NETFILTER)
	if err != nil {
		return nil, fmt.Errorf("open netfilter socket: %w", err)
	}
	q := &queue{fd: fd, outbox: make([]byte, 0, maxVerdicts*verdictSize)}
	if err := q.setUp(unread); err != nil {
		return nil, errors.Join(err, q.close())
	}
	return q, nil
}

func (q *queue) setUp(unread int) error {
	if err := unix.Bind(q.fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return fmt.Errorf("bind netfilter socket: %w", err)
	}
	for _, option := range []struct{ level, name, value int }{
		{unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, unread},
		{unix.SOL_NETLINK, unix.NETLINK_NO_ENOBUFS, 1},
		// Has the kernel note when packets arrive: all of them, while any socket asks.
		{unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1},
	} {
		if err := unix.SetsockoptInt(q.fd, option.level, option.name, option.value); err != nil {
			return fmt.Errorf("set option %d of the netfilter socket: %w", option.name, err)
		}
	}
	bind := []netlink.Attribute{{Type: configCmd, Data: []byte{cmdBind, 0, 0, 0}}}
	switch err := q.configure(bind); {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EBUSY):
		return fmt.Errorf("bind queue %d, which another relay or program holds: %w", queueNumber, err)
	case err != nil:
		return fmt.Errorf("bind queue %d: %w", queueNumber, err)
	}
	be := binary.BigEndian
	err := q.configure([]netlink.Attribute{
		{Type: configParams, Data: []byte{0, 0, 0, 0, copyMeta}},
		{Type: configMaxLen, Data: be.AppendUint32(nil, kernelMaxLen)},
		{Type: configFlags, Data: be.AppendUint32(nil, flagGSO)},
		{Type: configMask, Data: be.AppendUint32(nil, flagGSO)},
	})
	if err != nil {
		return fmt.Errorf("configure queue %d: %w", queueNumber, err)
	}
	return nil
}

// configure sends one configuration message and waits for its answer, which the
// kernel gives before the send returns.
func (q *queue) configure(attributes []netlink.Attribute) error {
	text, err := netlink.MarshalAttributes(attributes)
	if err != nil {
		return err
	}
	body := append(genericHeader(), text...)
	message, err := netlink.Message{
		Header: netlink.Header{
			Length: uint32(unix.SizeofNlMsghdr + len(body)),
			Type:   msgConfig, Flags: netlink.Request | netlink.Acknowledge,
		},
		Data: body,
	}.MarshalBinary()
	if err != nil {
		return err
	}
	if _, err := unix.Write(q.fd, message); err != nil {
		return err
	}
	n, err := unix.Read(q.fd, q.inbox[:])
	if err != nil {
		return err
	}
	_, _, err = parse(q.inbox[:n])
	return err
}

// genericHeader returns nfgenmsg: no family, version 0, the queue.
func genericHeader() []byte {
	return binary.BigEndian.AppendUint16([]byte{unix.AF_UNSPEC, 0}, queueNumber)
}

// nextPacket returns the packet that is announced next; false when there is none.
func (q *queue) nextPacket() (announced, bool, error) {
	for {
		n, err := unix.Read(q.fd, q.inbox[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return announced{}, false, nil
		case err != nil:
			return announced{}, false, fmt.Errorf("read queue: %w", err)
		}
		p, ok, err := parse(q.inbox[:n])
		if errors.Is(err, unix.ENOENT) {
			continue // of a verdict: the kernel drops what it holds when an interface goes down
		}
		if err != nil {
			return announced{}, false, fmt.Errorf("read queue: %w", err)
		}
		if ok {
			return p, true, nil
		}
	}
}

// parse reads one message of the kernel: a packet, or an answer, which is false
// with the error it bears.
func parse(b []byte) (announced, bool, error) {
	if len(b) < headerSize {
		return announced{}, false, fmt.Errorf("message of %d bytes, expected at least %d", len(b), headerSize)
	}
	switch kind := binary.NativeEndian.Uint16(b[4:]); kind {
	case unix.NLMSG_ERROR:
		if errno := -int32(binary.NativeEndian.Uint32(b[unix.SizeofNlMsghdr:])); errno != 0 {
			return announced{}, false, unix.Errno(errno)
		}
		return announced{}, false, nil
	case msgPacket:
		return parsePacket(b[headerSize:])
	default:
		return announced{}, false, fmt.Errorf("message of type %#x, expected a packet (%#x)", kind, msgPacket)
	}
}

func parsePacket(b []byte) (p announced, ok bool, err error) {
	const attributeHeader = 4
	for len(b) >= attributeHeader {
		size := int(binary.NativeEndian.Uint16(b))
		if size < attributeHeader || size > len(b) {
			return p, false, fmt.Errorf("attribute of %d bytes, expected %d to %d", size, attributeHeader, len(b))
		}
		value := b[attributeHeader:size]
		switch kind := binary.NativeEndian.Uint16(b[2:]); {
		case kind == attrPacketHdr && len(value) >= 4:
			p.id, ok = binary.BigEndian.Uint32(value), true
		case kind == attrTimestamp && len(value) >= 16:
			seconds, micros := binary.BigEndian.Uint64(value), binary.BigEndian.Uint64(value[8:])
			p.arrival = time.Unix(int64(seconds), int64(micros)*1000)
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	if !ok {
		return p, false, errors.New("packet without a number")
	}
	return p, true, nil
}

// acceptTo lets every packet up to that number go. Verdicts are given by flush,
// or when many have come together.
func (q *queue) acceptTo(id uint32) error { return q.decide(msgVerdictBatch, verdictAccept, id) }

// drop drops one packet. The kernel searches for it from its oldest one on.
func (q *queue) drop(id uint32) error { return q.decide(msgVerdict, verdictDrop, id) }

func (q *queue) decide(kind uint16, verdict, id uint32) error {
	if len(q.outbox)+verdictSize > cap(q.outbox) {
		if err := q.flush(); err != nil {
			return err
		}
	}
	b := q.outbox
	b = binary.NativeEndian.AppendUint32(b, verdictSize)
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0) // sequence and port: nobody asks
	b = append(b, unix.AF_UNSPEC, 0)
	b = binary.BigEndian.AppendUint16(b, queueNumber)
	b = binary.NativeEndian.AppendUint16(b, verdictSize-headerSize)
	b = binary.NativeEndian.AppendUint16(b, attrVerdictHdr)
	b = binary.BigEndian.AppendUint32(b, verdict)
	b = binary.BigEndian.AppendUint32(b, id)
	q.outbox = b
	return nil
}

// flush gives the verdicts. The kernel receives the packets before it returns.
func (q *queue) flush() error {
	if len(q.outbox) == 0 {
		return nil
	}
	_, err := unix.Write(q.fd, q.outbox)
	q.outbox = q.outbox[:0]
	if err != nil {
		return fmt.Errorf("give verdicts: %w", err)
	}
	return nil
}

func (q *queue) close() error { return unix.Close(q.fd) }
