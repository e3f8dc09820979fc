// Package serving finds out which processes of this host answer the connections to an
// address: those at the other ends of the connections, wherever address translation
// has led them, and not those that listen at the address.
package serving

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/tcpinfo"
)

// Finder looks for the server at an address. One goroutine may use it.
type Finder struct {
	At      netip.AddrPort
	More    []netip.AddrPort // further addresses of the server
	Allow   []netip.Addr     // where clients come from; empty: from anywhere
	Clients int              // a process: connections that it or a descendant holds are the clients'

	sight   sight             // the latest look
	ends    []*tcpinfo.Socket // of the clients' connections at the server, by that look
	ours    map[uint32]bool   // sockets of the clients and of others, by inode, as they were met
	pids    []int             // that served at the latest look
	carried map[uint32]int64  // bytes of connections to others, by inode, when they were last seen; nil before the first time
	counted map[uint32]bool   // those in onward
	onward  contract.Onward

	// Of the server's processes without a load.
	known    map[uint32]bool // sockets that they held, by inode
	incoming map[uint16]bool // ports of theirs and of others where connections come in
}

// ErrNobody says that no connection of the clients was there to be followed.
var ErrNobody = errors.New("no connection of the clients was there to be followed")

// Look returns the processes that serve the clients' connections of now, rising: the
// holders of the connections' server ends, and the holders of the socket that takes
// connections where those ends are. ErrNobody where the clients have none; any other
// error says in a clause why it cannot be told. It costs a few µs for each TCP
// connection of the network namespace and for each open file: of the host where somebody
// serves who is not known, else of the server. So it has no place beside a running load.
func (f *Finder) Look() (contract.Attached, error) {
	sockets, err := tcpinfo.Query{Bare: true}.Dump()
	if err != nil {
		return contract.Attached{}, err
	}
	f.sight = see(sockets)
	f.ends, err = f.serverEnds()
	if err != nil {
		return contract.Attached{}, err
	}
	return f.holders(f.ends)
}

// Begin has the first look begin with processes that a probe has found.
func (f *Finder) Begin(pids []int) { f.pids = slices.Clone(pids) }

// Ends returns the inodes and, rising, the ports of the sockets that the latest look found
// at the server's ends of the clients' connections.
func (f *Finder) Ends() (inodes map[uint32]bool, ports []uint16) {
	inodes = map[uint32]bool{}
	for _, end := range f.ends {
		inodes[end.Inode] = true
		ports = append(ports, end.Local.Port())
	}
	slices.Sort(ports)
	return inodes, slices.Compact(ports)
}

// serverEnds returns the server's ends of the clients' connections.
func (f *Finder) serverEnds() ([]*tcpinfo.Socket, error) {
	toServer := map[uint32]*tcpinfo.Socket{}
	for i := range f.sight.sockets {
		if s := &f.sight.sockets[i]; f.is(s.Remote) && s.Inode != 0 {
			toServer[s.Inode] = s
		}
	}
	f.tellApart(toServer)
	var ends []*tcpinfo.Socket
	for inode, c := range toServer {
		if !f.ours[inode] {
			continue
		}
		end := f.sight.peer(c)
		if end == nil {
			return nil, hidden(c.Remote)
		}
		ends = append(ends, end)
	}
	if len(ends) == 0 {
		ends = f.fromElsewhere()
	}
	if len(ends) == 0 {
		return nil, ErrNobody
	}
	return ends, nil
}

// is tells whether an address is one of the server's.
func (f *Finder) is(at netip.AddrPort) bool { return at == f.At || slices.Contains(f.More, at) }

// hidden says that the server's end of a connection has not been found.
func hidden(at netip.AddrPort) error {
	return fmt.Errorf("who answers on %s cannot be told: a container or, by address translation, another host does, or our own address is translated", at)
}

// tellApart finds out which of the sockets that were not met before are the clients'.
func (f *Finder) tellApart(toServer map[uint32]*tcpinfo.Socket) {
	if f.ours == nil {
		f.ours = map[uint32]bool{}
	}
	fresh := false
	for inode := range toServer {
		if _, met := f.ours[inode]; !met {
			f.ours[inode], fresh = false, true
		}
	}
	if !fresh {
		return
	}
	for _, pid := range descendants(f.Clients) {
		held := map[uint32]bool{}
		tcpinfo.Held(pid, held)
		for inode := range held {
			if toServer[inode] != nil {
				f.ours[inode] = true
			}
		}
	}
}

// fromElsewhere returns the server's ends of connections from clients whose sockets
// are not of this network namespace: those at the very address.
func (f *Finder) fromElsewhere() []*tcpinfo.Socket {
	if len(f.Allow) == 0 || slices.ContainsFunc(f.Allow, OfThisHost) {
		return nil
	}
	var ends []*tcpinfo.Socket
	for i := range f.sight.sockets {
		if s := &f.sight.sockets[i]; f.is(s.Local) && slices.Contains(f.Allow, s.Remote.Addr()) {
			ends = append(ends, s)
		}
	}
	return ends
}

// forwarders pass on what comes to another server, whose cost they do not show.
var forwarders = []string{"docker-proxy", "rootlessport", "rootlesskit", "slirp4netns", "pasta", "gvproxy", "kubectl", "ssh", "sshd"}

// holders returns the processes that hold the server's ends of connections, or the
// sockets that take connections where these ended.
func (f *Finder) holders(ends []*tcpinfo.Socket) (contract.Attached, error) {
	wanted := map[uint32]int{} // their users by inode
	accepted := map[uint32]bool{}
	for _, end := range ends {
		if end.Inode != 0 { // else no process has accepted it yet
			accepted[end.Inode], wanted[end.Inode] = true, end.UID
		}
		if f.sight.takes[end.Local] {
			continue
		}
		f.sight.takes[end.Local] = true
		if end.Transparent && end.Inode != 0 { // it was taken by a socket elsewhere, which TPROXY names
			continue
		}
		listeners, err := tcpinfo.Listeners(end.Local)
		if err != nil {
			return contract.Attached{}, err
		}
		for _, l := range listeners {
			wanted[l.Inode] = l.UID
		}
	}
	if len(wanted) == 0 {
		return contract.Attached{}, fmt.Errorf("no process has accepted a connection to %s, and none listens any more", f.At)
	}
	pids, seen, err := f.hold(wanted)
	if err != nil {
		return contract.Attached{}, err
	}
	for inode := range accepted {
		if !seen[inode] && lives(inode) {
			return contract.Attached{}, fmt.Errorf("the process that serves on %s is not to be seen from here, as one in a container is not", f.At)
		}
	}
	return named(pids, f.At.String())
}

// hold returns the processes that hold one of the sockets, which are given with their
// users, rising, and which of the sockets have a holder.
func (f *Finder) hold(wanted map[uint32]int) (pids []int, seen map[uint32]bool, err error) {
	// A socket of another user's may be held by a process that is not shown.
	for _, uid := range wanted {
		if uid != os.Geteuid() && !tcpinfo.SeesOthers() {
			return nil, nil, fmt.Errorf("what listens on %s belongs to user %s; run netdyno as that user or as root", f.At, userName(uid))
		}
	}
	seen = map[uint32]bool{}
	visit := func(pid int, held map[uint32]bool) {
		holds := false
		for inode := range held {
			if _, is := wanted[inode]; is {
				holds, seen[inode] = true, true
			}
		}
		if holds {
			pids = append(pids, pid)
		}
	}
	for _, pid := range f.pids {
		held := map[uint32]bool{}
		tcpinfo.Held(pid, held)
		visit(pid, held)
	}
	if len(seen) < len(wanted) {
		pids = nil
		err = tcpinfo.Holders(visit)
	}
	slices.Sort(pids)
	f.pids = pids
	return pids, seen, err
}

// lives tells whether a socket of the latest look is still there: one that was closed
// meanwhile has no holder.
func lives(inode uint32) bool {
	now, err := tcpinfo.Query{Bare: true}.Dump()
	return err != nil || slices.ContainsFunc(now, func(s tcpinfo.Socket) bool { return s.Inode == inode })
}

// named names processes, and refuses those that only pass on.
func named(pids []int, at string) (contract.Attached, error) {
	var found contract.Attached
	held := ""
	for _, pid := range pids {
		switch name := Executable(pid); {
		case name == "systemd": // it passes sockets on to those that serve
			held = "systemd holds its socket, and no process of the server does"
		case slices.Contains(forwarders, name):
			return contract.Attached{}, fmt.Errorf("%s (process %d) passes on what comes to %s, and the server is elsewhere", name, pid, at)
		case len(found.PIDs) < contract.MaxAttached:
			found.PIDs = append(found.PIDs, pid)
			found.Names = append(found.Names, name)
		default:
			return contract.Attached{}, fmt.Errorf("more than %d processes hold its socket", contract.MaxAttached)
		}
	}
	slices.Sort(found.Names)
	found.Names = slices.Compact(found.Names)
	switch {
	case len(found.PIDs) > 0:
		return found, nil
	case held != "":
		return found, errors.New(held)
	}
	return found, fmt.Errorf("the process that listens on %s is not to be seen from here, as one in a container is not", at)
}
