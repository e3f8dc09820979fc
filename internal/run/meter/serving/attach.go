package serving

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/tcpinfo"
	"netdyno/internal/unixsocket"
)

const (
	knock         = time.Second           // for a server to take a connection
	acceptTimeout = 50 * time.Millisecond // for a process to accept it
)

// Probe returns the processes that serve connections of the caller's own to the
// addresses, which are opened and closed for that, as Look does for those of clients. A
// client of another network namespace may be led to another server.
func Probe(addresses ...netip.AddrPort) (all contract.Attached, err error) {
	var pids []int
	for _, at := range addresses {
		found, err := probe(at)
		if err != nil || len(addresses) == 1 {
			return found, err
		}
		pids = append(pids, found.PIDs...)
	}
	slices.Sort(pids)
	return named(slices.Compact(pids), fmt.Sprint(addresses))
}

func probe(at netip.AddrPort) (contract.Attached, error) {
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

// Socket returns the process that began to listen at a Unix socket, as the kernel tells
// a connection of the caller's own (SO_PEERCRED, unix(7)). What that process started
// serves as a rule, and is read with it. The error says in a clause why it cannot be told.
func Socket(file string) (contract.Attached, error) {
	ctx, cancel := context.WithTimeout(context.Background(), knock)
	defer cancel()
	dialled, err := unixsocket.Dial(ctx, net.Dialer{}, file)
	if err != nil {
		return contract.Attached{}, unixsocket.Explain(file, err)
	}
	conn, is := dialled.(*net.UnixConn)
	if !is {
		return contract.Attached{}, fmt.Errorf("%s is no Unix socket", file)
	}
	defer func() { _ = conn.Close() }() // nothing was written
	raw, err := conn.SyscallConn()
	if err != nil {
		return contract.Attached{}, err
	}
	var of *unix.Ucred
	var unknown error
	err = raw.Control(func(fd uintptr) { of, unknown = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if err = errors.Join(err, unknown); err != nil {
		return contract.Attached{}, fmt.Errorf("who listens on %s is not told: %w", unixsocket.Address(file), err)
	}
	if _, err := os.Stat("/proc/" + strconv.Itoa(int(of.Pid))); of.Pid <= 0 || err != nil {
		return contract.Attached{}, fmt.Errorf("the process that began to listen on %s has ended, or is not to be seen from here, as one in a container is not", unixsocket.Address(file))
	}
	return named([]int{int(of.Pid)}, unixsocket.Address(file))
}

// overUDP are the wires whose servers take datagrams.
var overUDP = []string{"h3", "quic"}

// Datagrams tells whether servers of a wire take datagrams.
func Datagrams(wire string) bool { return slices.Contains(overUDP, wire) }

// OverUDP tells whether the server that a setup stands for takes datagrams.
func OverUDP(s *contract.Setup) bool {
	wire, _ := s.Options["wire"].(string)
	return Datagrams(wire)
}

// Receiver returns the processes that take datagrams at an address. What address
// translation does to datagrams is not followed.
func Receiver(at netip.AddrPort) (contract.Attached, error) {
	sockets, err := tcpinfo.Receivers(at)
	if err != nil {
		return contract.Attached{}, err
	}
	if len(sockets) == 0 {
		return contract.Attached{}, fmt.Errorf("no process takes datagrams at %s in this network namespace, as when a container does", at)
	}
	f := Finder{At: at}
	wanted := map[uint32]int{}
	for _, s := range sockets {
		wanted[s.Inode] = s.UID
	}
	pids, _, err := f.hold(wanted)
	if err != nil {
		return contract.Attached{}, err
	}
	return named(pids, f.At.String())
}
