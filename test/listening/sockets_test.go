package listening_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// socket takes connections, or datagrams from anyone.
type socket struct {
	Process  string // the name of its program
	Protocol string // "tcp", "udp6", …
	At       netip.AddrPort
}

// between is how long a watcher rests between two looks: a socket that lives for less is missed.
const between = 5 * time.Millisecond

// watch looks at the sockets of all processes that this one started until ctx ends.
func watch(ctx context.Context) map[socket]bool {
	found := map[socket]bool{}
	known := map[string]bool{} // inodes that were looked up
	for ctx.Err() == nil {
		for _, pid := range descendants(os.Getpid()) {
			look(pid, known, found)
		}
		select {
		case <-ctx.Done():
		case <-time.After(between):
		}
	}
	return found
}

// descendants returns the processes that pid and those it started have started.
func descendants(pid int) []int {
	children := map[int][]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path) // a process that has ended has none
		_, rest, ok := strings.Cut(string(text), ") ")
		if fields := strings.Fields(rest); ok && len(fields) > 1 {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			parent, _ := strconv.Atoi(fields[1])
			children[parent] = append(children[parent], child)
		}
	}
	var all []int
	for next := children[pid]; len(next) > 0; {
		one := next[0]
		all = append(all, one)
		next = append(next[1:], children[one]...)
	}
	return all
}

// look enters those sockets of a process into found that were not looked up before.
func look(pid int, known map[string]bool, found map[socket]bool) {
	held := map[string]bool{}
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		to, _ := os.Readlink(fd) // one that was closed has none
		if inode, ok := strings.CutPrefix(to, "socket:["); ok {
			held[strings.TrimSuffix(inode, "]")] = true
		}
	}
	for inode := range held {
		if known[inode] {
			delete(held, inode)
		}
	}
	if len(held) == 0 {
		return
	}
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	for _, protocol := range []string{"tcp", "tcp6", "udp", "udp6"} {
		table, _ := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", pid, protocol))
		for line := range strings.Lines(string(table)) {
			fields := strings.Fields(line)
			if len(fields) < 10 || !held[fields[9]] || !open(protocol, fields[2], fields[3]) {
				continue
			}
			// A socket that was seen before it listens is looked at again.
			known[fields[9]] = true
			found[socket{filepath.Base(name), protocol, addressOf(fields[1])}] = true
		}
	}
}

// open tells whether a socket in a state with such a remote address takes what anyone sends.
func open(protocol, remote, state string) bool {
	const listens, unconnected = "0A", "07"
	if strings.HasPrefix(protocol, "tcp") {
		return state == listens
	}
	return state == unconnected && strings.HasSuffix(remote, ":0000")
}

// addressOf reads an address as the kernel writes it: words of 32 bits in the order of this
// machine's bytes, and the port.
func addressOf(text string) netip.AddrPort {
	host, port, _ := strings.Cut(text, ":")
	raw, _ := hex.DecodeString(host)
	for i := 0; i+4 <= len(raw); i += 4 {
		binary.NativeEndian.PutUint32(raw[i:], binary.BigEndian.Uint32(raw[i:]))
	}
	at, _ := netip.AddrFromSlice(raw)
	number, _ := strconv.ParseUint(port, 16, 16)
	return netip.AddrPortFrom(at.Unmap(), uint16(number))
}
