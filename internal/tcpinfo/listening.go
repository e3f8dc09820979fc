package tcpinfo

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Listener is a TCP socket of this network namespace that waits for connections.
type Listener struct {
	At    netip.AddrPort // IPv4-mapped addresses as IPv4
	UID   int            // whose it is
	Inode uint32         // as in /proc/PID/fd
}

// Listeners returns the sockets that take connections to an address: those bound
// to it, else those bound to every address of its family, else to every address
// of both. Several share a port by SO_REUSEPORT. None when nothing here listens
// there. It costs some 2 µs for each TCP socket that listens in the namespace, and where the
// kernel has no tcp_diag a walk of its table. Source: proc_net_tcp.rst of Linux.
func Listeners(to netip.AddrPort) ([]Listener, error) {
	all, err := allListeners()
	return takers(all, to), err
}

// allListeners returns the TCP sockets of this network namespace that listen.
func allListeners() ([]Listener, error) {
	var all []Listener
	err := Query{Bare: true, listening: true}.Walk(func(s *Socket) error {
		all = append(all, Listener{s.Local, s.UID, s.Inode})
		return nil
	})
	if err != nil { // there is no tcp_diag, or it is not let through
		return inState("tcp", stateListen)
	}
	return all, nil
}

// Receivers returns the UDP sockets that take datagrams to an address from anybody, as
// Listeners does.
func Receivers(to netip.AddrPort) ([]Listener, error) {
	all, err := inState("udp", stateUnconnected)
	return takers(all, to), err
}

// The states of the sockets that take what comes from anybody. Source: tcp_states.h of
// Linux, whose numbers UDP shares.
const (
	stateListen      = "0A"
	stateUnconnected = "07"
)

// takers returns which of the sockets take what comes to an address.
func takers(all []Listener, to netip.AddrPort) []Listener {
	ip := to.Addr().Unmap().WithZone("")
	var found [3][]Listener
	for _, l := range all {
		switch at := l.At.Addr(); {
		case l.At.Port() != to.Port():
		case at == ip:
			found[0] = append(found[0], l)
		case at.IsUnspecified() && at.Is4() == ip.Is4():
			found[1] = append(found[1], l)
		case at.IsUnspecified() && at.Is6():
			found[2] = append(found[2], l)
		}
	}
	for _, which := range found {
		if len(which) > 0 {
			return which
		}
	}
	return nil
}

// ListeningPorts returns the ports of this network namespace, of any of its addresses,
// at which a TCP socket waits for connections. It costs what Listeners does.
func ListeningPorts() (map[uint16]bool, error) {
	all, err := allListeners()
	ports := make(map[uint16]bool, len(all))
	for _, l := range all {
		ports[l.At.Port()] = true
	}
	return ports, err
}

// inState returns the sockets of a protocol, over both versions of IP, in a state.
func inState(protocol, state string) ([]Listener, error) {
	var both []Listener
	for _, table := range []string{"/proc/net/" + protocol, "/proc/net/" + protocol + "6"} {
		all, err := listed(table, state)
		if errors.Is(err, fs.ErrNotExist) { // a kernel without IPv6
			continue
		}
		if err != nil {
			return nil, err
		}
		both = append(both, all...)
	}
	return both, nil
}

// listed returns the sockets of one table that are in a state. Of TCP, those that
// listen come first (tcp_seq_start in tcp_ipv4.c of Linux), so that a long table is
// not read to its end.
func listed(table, state string) ([]Listener, error) {
	f, err := os.Open(table)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Listener
	for lines := bufio.NewScanner(f); ; {
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				return nil, fmt.Errorf("read %s: %w", table, err)
			}
			return all, nil
		}
		// Columns: sl, local address, remote address, state, queues, timer, retransmits, uid, timeout, inode.
		columns := strings.Fields(lines.Text())
		if len(columns) < 10 || columns[3] != state {
			if len(columns) >= 10 && state == stateListen && columns[0] != "sl" {
				return all, nil
			}
			continue
		}
		at, err := localAddress(columns[1])
		uid, notNumber := strconv.Atoi(columns[7])
		inode, notInode := strconv.ParseUint(columns[9], 10, 32)
		if err := errors.Join(err, notNumber, notInode); err != nil {
			return nil, fmt.Errorf("read %s: %w", table, err)
		}
		all = append(all, Listener{at, uid, uint32(inode)})
	}
}

// localAddress reads "0100007F:1F90": 32-bit words as this machine reads them from
// memory, where they are in the network's order, then the port.
func localAddress(text string) (netip.AddrPort, error) {
	words, port, _ := strings.Cut(text, ":")
	b, err := hex.DecodeString(words)
	number, notPort := strconv.ParseUint(port, 16, 16)
	if err != nil || notPort != nil || len(b) != 4 && len(b) != 16 {
		return netip.AddrPort{}, fmt.Errorf("address %q: expected hexadecimal address:port", text)
	}
	for word := range slices.Chunk(b, 4) {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	ip, _ := netip.AddrFromSlice(b) // of 4 or 16 bytes
	return netip.AddrPortFrom(ip.Unmap(), uint16(number)), nil
}

// Owners returns the processes that hold one of the sockets, rising, among those
// whose files the caller may see.
func Owners(of []Listener) ([]int, error) {
	var pids []int
	err := Holders(func(pid int, held map[uint32]bool) {
		if slices.ContainsFunc(of, func(l Listener) bool { return held[l.Inode] }) {
			pids = append(pids, pid)
		}
	})
	slices.Sort(pids)
	return pids, err
}

// Holders calls visit for every process that holds sockets the caller may see, with
// their inodes, which are valid until visit returns. It costs a microsecond or two for
// each open file of the host.
func Holders(visit func(pid int, held map[uint32]bool)) error {
	d, err := os.Open("/proc")
	if err != nil {
		return err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return fmt.Errorf("read /proc: %w", err)
	}
	held := map[uint32]bool{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		clear(held)
		if Held(pid, held); len(held) > 0 {
			visit(pid, held)
		}
	}
	return nil
}

// Holds tells whether a process is seen to hold one of the sockets.
func Holds(pid int, of []Listener) bool {
	held := map[uint32]bool{}
	Held(pid, held)
	return slices.ContainsFunc(of, func(l Listener) bool { return held[l.Inode] })
}

// SeesOthers tells whether the caller may see the files of every process here.
func SeesOthers() bool {
	d, err := os.Open("/proc/1/fd")
	if err != nil {
		return false
	}
	_ = d.Close() // it was only opened
	return true
}

// maxFiles bounds the open files of one process that are looked at.
const maxFiles = 1 << 20

// Held adds the inodes of the sockets that a process holds open, of every kind
// of socket. It costs a microsecond or two for each open file. Of a process that
// has ended, or whose files the caller may not see, it adds none. Any goroutine
// may call it. Source: proc(5), /proc/pid/fd.
func Held(pid int, to map[uint32]bool) {
	directory := "/proc/" + strconv.Itoa(pid) + "/fd/"
	d, err := os.Open(directory)
	if err != nil {
		return
	}
	defer func() { _ = d.Close() }() // it was only read
	names, err := d.Readdirnames(maxFiles)
	if err != nil {
		return
	}
	for _, name := range names {
		link, err := os.Readlink(directory + name)
		if err != nil {
			continue // closed meanwhile
		}
		number, isSocket := strings.CutPrefix(strings.TrimSuffix(link, "]"), "socket:[")
		if inode, err := strconv.ParseUint(number, 10, 32); isSocket && err == nil {
			to[uint32(inode)] = true
		}
	}
}

// mostProcesses bounds the descendants of one process that are looked at.
const mostProcesses = 1 << 10

// Descendants returns the processes that a process has started, and theirs. A process
// that has ended has none: its children are another's then. Source: proc(5),
// /proc/pid/task/tid/children.
func Descendants(pid int) (all []int) {
	for next := []int{pid}; len(next) > 0 && len(all) < mostProcesses; {
		children := childrenOf(next[0])
		next, all = append(next[1:], children...), append(all, children...)
	}
	return all
}

func childrenOf(pid int) (children []int) {
	tasks, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/children")
	if err != nil {
		return nil // the pattern is a good one
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // the thread has ended
		}
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}
