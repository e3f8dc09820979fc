package serving

import (
	"net/netip"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/tcpinfo"
)

// quick bounds the clients' connections beside whose load Onward takes little time.
const quick = contract.MaxSockets / 2

// tries is how often Onward looks for a connection to others that lasts for one
// request: it must be there when its holder is asked and when the kernel is. A server
// with more than few sockets is asked once.
const (
	tries = 3
	few   = 64
)

// Quick tells whether the server has so few connections that its files are listed in
// little time.
func (f *Finder) Quick() bool { return len(f.sight.sockets) <= 2*quick }

// Onward returns the bytes that moved, since the first call, on connections from the
// server's processes to other servers, as far as a call found the connections; nil where
// nothing moved or nothing can be told. A connection whose two ends both belong to the
// server is not counted. Beside a load Onward asks the kernel, which costs a millisecond
// or more, only when the server has sockets that it did not have at the last call: the
// counters of an older socket can be read later.
func (f *Finder) Onward(processes []int, besideLoad bool) *contract.Onward {
	attempts := 1
	if besideLoad {
		attempts = tries
	}
	for range attempts {
		held := map[uint32]bool{}
		for _, pid := range processes {
			tcpinfo.Held(pid, held)
		}
		if besideLoad && f.knows(held) {
			if len(held) > few {
				break
			}
			continue
		}
		if err := f.count(held, besideLoad); err != nil {
			return nil
		}
		break
	}
	if f.onward.Connections == 0 {
		return nil
	}
	now := f.onward
	now.To = slices.Clone(now.To)
	return &now
}

// knows tells whether all of the sockets were there when the server was last looked at
// without a load.
func (f *Finder) knows(held map[uint32]bool) bool {
	for inode := range held {
		if !f.known[inode] {
			return false
		}
	}
	return true
}

// count enters what has moved on the connections to others that the server holds.
func (f *Finder) count(held map[uint32]bool, besideLoad bool) (err error) {
	if !besideLoad || f.incoming == nil {
		if f.incoming, err = tcpinfo.ListeningPorts(); err != nil {
			return err
		}
		f.known = held
	}
	var without []uint16 // the server's ends of the clients' connections
	for at := range f.sight.takes {
		f.incoming[at.Port()] = true // what listened there may have gone
		if len(without) < tcpinfo.MaxPorts {
			without = append(without, at.Port())
		}
	}
	sockets, err := tcpinfo.Query{Without: without}.Dump()
	if err != nil {
		return err
	}
	baseline := f.carried == nil
	if baseline {
		f.carried = map[uint32]int64{}
	}
	all := see(sockets)
	for i := range sockets {
		s := &sockets[i]
		if !held[s.Inode] || f.incoming[s.Local.Port()] || f.is(s.Remote) {
			continue
		}
		if end := all.peer(s); end == nil || !held[end.Inode] {
			f.addSocket(s, baseline)
		}
	}
	return nil
}

// addSocket enters what a connection has carried since it was last seen.
func (f *Finder) addSocket(s *tcpinfo.Socket, baseline bool) {
	bytes := s.AckedBytes + s.ReceivedBytes
	before, known := f.carried[s.Inode]
	f.carried[s.Inode] = bytes
	if baseline || bytes <= before {
		return
	}
	f.onward.Bytes += bytes - before
	if f.counted == nil {
		f.counted = map[uint32]bool{}
	}
	if f.counted[s.Inode] {
		return
	}
	f.counted[s.Inode] = true
	f.onward.Connections++
	if !known {
		f.onward.Begun++
	}
	if to := s.Remote.String(); len(f.onward.To) < contract.MaxOnward && !slices.Contains(f.onward.To, to) {
		f.onward.To = append(f.onward.To, to)
		slices.Sort(f.onward.To)
	}
}

// sight is what one look at the network namespace showed.
type sight struct {
	sockets  []tcpinfo.Socket
	byRemote map[netip.AddrPort][]*tcpinfo.Socket
	takes    map[netip.AddrPort]bool // where the server's ends of connections are
}

func see(sockets []tcpinfo.Socket) sight {
	s := sight{sockets, make(map[netip.AddrPort][]*tcpinfo.Socket, len(sockets)), map[netip.AddrPort]bool{}}
	for i := range sockets {
		s.byRemote[sockets[i].Remote] = append(s.byRemote[sockets[i].Remote], &sockets[i])
	}
	return s
}

// peer returns the other end of a connection; nil where it is not of this network
// namespace. Without address translation its addresses are c's, exchanged. A
// translation of the destination leaves the other end our address as its remote one;
// what else has that is the peer of another connection from our address.
func (s *sight) peer(c *tcpinfo.Socket) *tcpinfo.Socket {
	var translated *tcpinfo.Socket
	for _, other := range s.byRemote[c.Local] {
		switch {
		case other.Local == c.Remote:
			return other
		case other != c && !s.has(other.Remote, other.Local):
			translated = other
		}
	}
	return translated
}

// has tells whether there is a socket with these addresses.
func (s *sight) has(local, remote netip.AddrPort) bool {
	return slices.ContainsFunc(s.byRemote[remote], func(other *tcpinfo.Socket) bool { return other.Local == local })
}
