package tcpinfo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"net/netip"
	"time"
	"unsafe" // for the offsets of a structure's fields alone

	"golang.org/x/sys/unix"
)

// The layout of struct inet_diag_msg. Ports and addresses are in network
// order, the rest in the host's.
const (
	localPortAt    = 4
	remotePortAt   = 6
	localAt        = 8
	remoteAt       = 24
	receiveQueueAt = 56
	sendQueueAt    = 60
	uidAt          = 64
	inodeAt        = 68
	answerLength   = 72
)

// parse reads one struct inet_diag_msg and the attributes behind it.
func parse(answer []byte) (Socket, error) {
	if len(answer) < answerLength {
		return Socket{}, fmt.Errorf("read an answer: %d bytes, expected at least %d", len(answer), answerLength)
	}
	native := binary.NativeEndian
	s := Socket{
		Local:  address(answer[0], answer[localAt:], answer[localPortAt:]),
		Remote: address(answer[0], answer[remoteAt:], answer[remotePortAt:]),
		UID:    int(native.Uint32(answer[uidAt:])),
		Inode:  native.Uint32(answer[inodeAt:]),
	}
	attributes := answer[answerLength:]
	for len(attributes) >= unix.SizeofRtAttr {
		length := int(native.Uint16(attributes))
		if length < unix.SizeofRtAttr || length > len(attributes) {
			return Socket{}, fmt.Errorf("read an answer: an attribute of %d bytes where %d are left", length, len(attributes))
		}
		value := attributes[unix.SizeofRtAttr:length]
		switch native.Uint16(attributes[2:]) {
		case attrInfo:
			congestion := s.Congestion
			s.Info = info(value)
			s.Congestion = congestion
		case attrOptions:
			const transparent = 1 << 5 // of struct inet_diag_sockopt, little-endian
			s.Transparent = len(value) > 0 && value[0]&transparent != 0
		case attrCong:
			name, _, _ := bytes.Cut(value, []byte{0})
			s.Congestion = string(name)
		}
		attributes = attributes[min((length+unix.RTA_ALIGNTO-1)&^(unix.RTA_ALIGNTO-1), len(attributes)):]
	}
	s.ReceiveQueue = int64(native.Uint32(answer[receiveQueueAt:]))
	s.SendQueue = int64(native.Uint32(answer[sendQueueAt:]))
	return s, nil
}

func address(family byte, from, port []byte) netip.AddrPort {
	var ip netip.Addr
	if family == unix.AF_INET {
		ip = netip.AddrFrom4([4]byte(from))
	} else {
		ip = netip.AddrFrom16([16]byte(from)).Unmap()
	}
	return netip.AddrPortFrom(ip, binary.BigEndian.Uint16(port))
}

// info reads struct tcp_info, of which an older kernel sends less.
func info(from []byte) Info {
	var layout unix.TCPInfo
	least := small(from, unsafe.Offsetof(layout.Min_rtt))
	if least == math.MaxUint32 {
		least = 0 // the kernel's word for none
	}
	return Info{
		Busy:                 time.Duration(large(from, unsafe.Offsetof(layout.Busy_time))) * time.Microsecond,
		ReceiveWindowLimited: time.Duration(large(from, unsafe.Offsetof(layout.Rwnd_limited))) * time.Microsecond,
		SendBufferLimited:    time.Duration(large(from, unsafe.Offsetof(layout.Sndbuf_limited))) * time.Microsecond,
		AckedBytes:           large(from, unsafe.Offsetof(layout.Bytes_acked)),
		ReceivedBytes:        large(from, unsafe.Offsetof(layout.Bytes_received)),
		SentSegments:         small(from, unsafe.Offsetof(layout.Data_segs_out)),
		ReceivedSegments:     small(from, unsafe.Offsetof(layout.Data_segs_in)),
		Retransmits:          small(from, unsafe.Offsetof(layout.Total_retrans)),
		RTT:                  time.Duration(small(from, unsafe.Offsetof(layout.Rtt))) * time.Microsecond,
		MinRTT:               time.Duration(least) * time.Microsecond,
		CongestionWindow:     small(from, unsafe.Offsetof(layout.Snd_cwnd)),
		SegmentBytes:         small(from, unsafe.Offsetof(layout.Snd_mss)),
		DeliveryBytesPerS:    large(from, unsafe.Offsetof(layout.Delivery_rate)),
		PeerWindow:           small(from, unsafe.Offsetof(layout.Snd_wnd)),
	}
}

// small reads 32 bits; 0 where the structure ends before.
func small(from []byte, at uintptr) int64 {
	if int(at)+4 > len(from) {
		return 0
	}
	return int64(binary.NativeEndian.Uint32(from[at:]))
}

// large reads 64 bits; 0 where the structure ends before.
func large(from []byte, at uintptr) int64 {
	if int(at)+8 > len(from) {
		return 0
	}
	return int64(binary.NativeEndian.Uint64(from[at:]))
}
