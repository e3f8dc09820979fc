package meter

import (
	"cmp"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/tcpinfo"
)

// connections keeps the counters of the worker's TCP connections. The lines that pass
// name the ports to look for: a client's setup names its peers' ports, a server's ready
// its own. Of the sockets with those ports only those count that the worker's processes
// hold: on loopback both ends of a connection are in one table, and other clients have
// the same peers.
type connections struct {
	mu      sync.Mutex // the setup passes in one goroutine, all else in another
	command contract.Setup
	role    contract.Role
	query   tcpinfo.Query // without ports there is nothing to account for

	// The rest is of the goroutine that carries messages up.
	part  sample
	mine  owned
	fixed bool // since the window opened: a connection that is new then is not counted
}

// setUp learns from the command what kind of connections to expect. A pair has both ends
// in one process. Connections that last for one exchange are gone, with their counters,
// when the table is read.
func (c *connections) setUp(s *contract.Setup) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.command, c.role, c.query = *s, s.Role, tcpinfo.Query{}
	c.part = sample{allowed: allowedFor(time.Duration(s.WindowNs))}
	switch {
	case s.Load.Fresh || s.Role == contract.Pair:
		c.role = ""
	case s.Role == contract.Client:
		c.expect(nil, ports(s.Peers))
	}
}

// setup returns the command that has passed; an empty one before.
func (c *connections) setup() *contract.Setup {
	c.mu.Lock()
	defer c.mu.Unlock()
	return &c.command
}

// expect sets the ports of the query.
func (c *connections) expect(local, remote []uint16) {
	c.query.LocalPorts, c.query.RemotePorts = local, remote
}

// ready learns where a server listens.
func (c *connections) ready(r *contract.Ready) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.role.Serves() && !r.Elsewhere {
		c.expect(ports(r.Addresses), nil)
	}
}

// follows learns at which ports a server that the worker only stands for has its ends of
// the clients' connections.
func (c *connections) follows(ports []uint16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.role.Serves() && len(ports) <= tcpinfo.MaxPorts {
		c.query.LocalPorts = ports
	}
}

// ports returns the ports of addresses, without repeats; none when they are
// more than can be asked for or one is no host:port.
func ports(addresses []string) []uint16 {
	var all []uint16
	for _, address := range addresses {
		_, text, err := net.SplitHostPort(address)
		if err != nil {
			return nil
		}
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil {
			return nil
		}
		all = append(all, uint16(port))
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > tcpinfo.MaxPorts {
		return nil
	}
	return all
}

// readConnections returns the counters now, of a sample of the connections where the first
// reading, before the load, took too long for all; nil when there is no connection to
// count. held returns the inodes of the
// sockets that the worker's processes hold; it is called when a connection is
// met for the first time, before the load as a rule. With opens, the window
// opens: connections that begin later are left out, so that a difference shows
// in the number of sockets. After an error nothing is read any more.
func (c *connections) readConnections(opens bool, held func() map[uint32]bool) (*contract.TCP, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.query.LocalPorts)+len(c.query.RemotePorts) == 0 {
		return nil, nil
	}
	sockets, err := c.dump(&held)
	if err != nil {
		c.query = tcpinfo.Query{}
		return nil, fmt.Errorf("account for the TCP connections: %w; there is no account of them from here on", err)
	}
	if !c.fixed {
		c.mine = c.mine.meet(inodes(sockets), held)
	}
	if len(sockets) > 0 && opens {
		c.fixed = true
	}
	t := sum(sockets, c.mine)
	if t != nil && c.part.of > t.Sockets {
		t.Of, t.Each = c.part.of, nil
	}
	return t, nil
}

// owned tells, by inode, of all sockets that were met which are the worker's: on loopback
// those of both ends are in one table.
type owned map[uint32]bool

// meet enters sockets, and asks held, once, for those that the worker's processes hold
// where one was not met before. It returns nil for no socket at all.
func (o owned) meet(inodes []uint32, held func() map[uint32]bool) owned {
	var its map[uint32]bool
	for _, inode := range inodes {
		if _, met := o[inode]; met || inode == 0 {
			continue
		}
		if its == nil {
			its = held()
		}
		if o == nil {
			o = make(owned, len(inodes))
		}
		o[inode] = its[inode]
	}
	return o
}

func inodes(sockets []tcpinfo.Socket) []uint32 {
	all := make([]uint32, len(sockets))
	for i := range sockets {
		all[i] = sockets[i].Inode
	}
	return all
}

// sum adds up the worker's own connections.
func sum(sockets []tcpinfo.Socket, mine map[uint32]bool) *contract.TCP {
	var t contract.TCP
	counted := make(map[uint32]bool, len(sockets))
	for i := range sockets {
		s := &sockets[i]
		if !mine[s.Inode] || counted[s.Inode] {
			continue // another's, or met twice by a walk beside which the table changed
		}
		counted[s.Inode] = true
		t.Sockets++
		if t.Sockets <= contract.MaxEach {
			t.Each = append(t.Each, contract.TCPSocket{Inode: int64(s.Inode), AckedBytes: s.AckedBytes, ReceivedBytes: s.ReceivedBytes})
		}
		if !slices.Contains(t.Congestion, s.Congestion) && s.Congestion != "" {
			t.Congestion = append(t.Congestion, s.Congestion)
		}
		t.BusyNs += s.Busy.Nanoseconds()
		t.ReceiveWindowNs += s.ReceiveWindowLimited.Nanoseconds()
		t.SendBufferNs += s.SendBufferLimited.Nanoseconds()
		t.AckedBytes += s.AckedBytes
		t.ReceivedBytes += s.ReceivedBytes
		t.SentSegments += s.SentSegments
		t.ReceivedSegments += s.ReceivedSegments
		t.Retransmits += s.Retransmits
		t.RTTNs += s.RTT.Nanoseconds()
		t.MaxRTTNs = max(t.MaxRTTNs, s.RTT.Nanoseconds())
		if least := s.MinRTT.Nanoseconds(); least > 0 && (t.MinRTTNs == 0 || least < t.MinRTTNs) {
			t.MinRTTNs = least
		}
		t.CongestionWindow += s.CongestionWindow
		t.DeliveryBytesPerS += s.DeliveryBytesPerS
		t.SegmentBytes = max(t.SegmentBytes, s.SegmentBytes)
		t.ReceiveBufferedBytes += s.ReceiveQueue
		t.SendQueuedBytes += s.SendQueue
		t.PeerWindowBytes += s.PeerWindow
	}
	if t.Sockets == 0 {
		return nil
	}
	if t.Sockets > contract.MaxEach {
		t.Each = nil
	}
	slices.SortFunc(t.Each, func(a, b contract.TCPSocket) int { return cmp.Compare(a.Inode, b.Inode) })
	slices.Sort(t.Congestion)
	t.RTTNs /= int64(t.Sockets)
	t.CongestionWindow /= int64(t.Sockets)
	return &t
}
