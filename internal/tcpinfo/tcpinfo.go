// Package tcpinfo reads what the kernel knows of TCP connections, from outside
// the processes that hold them: sock_diag(7), as ss(8) does. It needs no
// privilege for the caller's own network namespace.
//
// It writes its requests itself instead of using a netlink library: those at
// hand ask for every socket of the host in every state, once for each address
// family, and cannot tell the kernel which ports are meant. A reading is taken
// while a trial runs, beside the worker and on its CPUs, so here one walk of
// the kernel's table answers for both families, and the kernel leaves out the
// other ends of loopback's connections before it formats them.
package tcpinfo

import (
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Socket is one established connection as seen from one of its ends.
type Socket struct {
	Local, Remote netip.AddrPort // IPv4-mapped addresses as IPv4, without zones
	UID           int            // whose it is
	Inode         uint32         // as in /proc/PID/fd; 0 while no process has accepted it
	Transparent   bool           // IP_TRANSPARENT: Local need not be where its process listens; Linux 5.10
	Info
}

// Info is the kernel's account of one end of a connection. Amounts and times
// are cumulative since it began unless said otherwise; what a kernel is too old
// to tell is 0. The kernel counts the three times in its ticks of 1 to 10 ms:
// of shorter spells they are right in the mean, not singly. Source: struct
// tcp_info in linux/tcp.h; RFC 4898 for the names there.
type Info struct {
	Congestion string // congestion control in use: "cubic"

	Busy                 time.Duration // with data to send or unacknowledged; Linux 4.10
	ReceiveWindowLimited time.Duration // of Busy, the peer's window let nothing more be sent
	SendBufferLimited    time.Duration // of Busy, the writer waited for room although all that it had written was in flight

	AckedBytes       int64 // sent and acknowledged
	ReceivedBytes    int64
	SentSegments     int64 // with data, retransmitted ones included
	ReceivedSegments int64 // with data
	Retransmits      int64 // segments

	// Of now.
	RTT               time.Duration // smoothed
	MinRTT            time.Duration // the least in the kernel's window of minutes; 0 when none was measured
	CongestionWindow  int64         // segments
	SegmentBytes      int64         // largest to send
	DeliveryBytesPerS int64         // of the latest flight
	ReceiveQueue      int64         // bytes received and not read
	SendQueue         int64         // bytes written and not acknowledged
	PeerWindow        int64         // bytes that the peer lets be on the way to it, by its latest acknowledgement; Linux 5.4
}

// MaxSockets is how many sockets a dump returns at most.
const MaxSockets = 1 << 16

// ErrMany is a query that more sockets answer than it may return.
var ErrMany = errors.New("more sockets than may be returned")

// Query says which established connections are meant. The zero value means
// all of them.
type Query struct {
	// LocalPorts and RemotePorts select, in the kernel, the connections that
	// have one of the former at this end or one of the latter at the other.
	// Both empty select all; together they hold at most MaxPorts.
	LocalPorts, RemotePorts []uint16

	// Without leaves out, in the kernel, the connections that have one of these ports
	// at this end, at most MaxPorts; LocalPorts and RemotePorts then say nothing.
	Without []uint16

	Max       int  // sockets of a dump; 0 means MaxSockets
	Bare      bool // without Info
	Beginning bool // also those of a server that waits for the first bytes before it accepts (TCP_DEFER_ACCEPT)
	listening bool // sockets that wait for connections, and no connection
}

// MaxPorts bounds the ports of a query: the kernel tries them one by one for
// every connection of the host.
const MaxPorts = 256

// Dump returns the sockets that q means, of TCP over IPv4 and IPv6 in the
// caller's network namespace. A connection whose both ends are in it has a socket
// for each. The kernel walks its table without stopping the traffic, so a
// connection that begins or ends meanwhile may be missing or there twice. It
// costs the walk, half a millisecond for a table of 262,144 buckets, and some
// 2 µs for each socket, less for one without Info. Of more than q.Max it returns the first that it met with
// ErrMany. Any goroutine may call it.
func (q Query) Dump() ([]Socket, error) {
	if q.Max <= 0 || q.Max > MaxSockets {
		q.Max = MaxSockets
	}
	var sockets []Socket
	err := q.Walk(func(s *Socket) error {
		if len(sockets) == q.Max {
			return ErrMany
		}
		sockets = append(sockets, *s)
		return nil
	})
	return sockets, err
}

// Walk gives take the sockets that q means, of any number, as Dump does, without keeping
// them. An error of take's ends the walk. The order is that of the kernel's table, where
// a keyed hash of its addresses and ports places each connection: it says nothing of what
// a connection does, and stays the same as long as the connections do.
func (q Query) Walk(take func(*Socket) error) error {
	if n := len(q.LocalPorts) + len(q.RemotePorts) + len(q.Without); n > MaxPorts {
		return fmt.Errorf("dump sockets: %d ports, at most %d may be asked for", n, MaxPorts)
	}
	err := ask(q.request(), func(answer []byte) error {
		s, err := parse(answer)
		if err != nil {
			return err
		}
		return take(&s)
	})
	if err != nil {
		err = fmt.Errorf("dump sockets: %w", err)
	}
	return err
}
