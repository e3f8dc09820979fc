package serving

import (
	"net/netip"

	"netdyno/internal/tcpinfo"
)

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
	for _, other := range s.byRemote[remote] {
		if other.Local == local {
			return true
		}
	}
	return false
}
