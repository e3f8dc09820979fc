package serving

import (
	"fmt"
	"net"
	"net/netip"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/tcpinfo"
)

const (
	knock         = time.Second           // for a server to take a connection
	acceptTimeout = 50 * time.Millisecond // for a process to accept it
)

// Probe returns the processes that serve a connection of the caller's own to the
// address, which is opened and closed for that, as Look does for those of clients. A
// client of another network namespace may be led to another server.
func Probe(at netip.AddrPort) (contract.Attached, error) {
	conn, err := net.DialTimeout("tcp", at.String(), knock)
	if err != nil {
		return contract.Attached{}, fmt.Errorf("no connection to %s was made: %w", at, err)
	}
	defer func() { _ = conn.Close() }() // nothing was written
	own, err := netip.ParseAddrPort(conn.LocalAddr().String())
	if err != nil {
		return contract.Attached{}, err
	}
	end, err := accepted(own, at)
	if err != nil {
		return contract.Attached{}, err
	}
	f := Finder{At: at, sight: see(nil)}
	return f.holders([]*tcpinfo.Socket{end})
}

// accepted returns the other end of an own connection, as soon as a process holds it,
// or after acceptTimeout: a server may wait for the first bytes before it accepts.
func accepted(own, at netip.AddrPort) (*tcpinfo.Socket, error) {
	var end *tcpinfo.Socket
	for begun := time.Now(); end == nil || end.Inode == 0; time.Sleep(time.Millisecond) {
		sockets, err := tcpinfo.Query{
			LocalPorts: []uint16{own.Port()}, RemotePorts: []uint16{own.Port()}, Bare: true, Beginning: true,
		}.Dump()
		if err != nil {
			return nil, err
		}
		s := see(sockets)
		end = s.peer(&tcpinfo.Socket{Local: own, Remote: at})
		if time.Since(begun) > acceptTimeout {
			break
		}
	}
	if end == nil {
		return nil, hidden(at)
	}
	return end, nil
}
