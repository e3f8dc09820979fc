package wire

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// With fewer connections the kernel's search for a free port is quick.
const manyConnections = 4096

// portWindow is how many ports one connection may have. Some may be another
// process's, or be left over from connections that ended a minute ago.
const portWindow = 64

// ports names the local ports that connections may have. To connect, the kernel
// tries the ports of its range (net.ipv4.ip_local_port_range) one after the other
// until one is free. Once most are in use, each connection takes hundreds of
// microseconds. C++ counterpart: native/kit/ports.h.
type ports struct {
	first, count, start int // count is 0 where the kernel's search is quick enough
}

// newPorts is for so many connections from one address to one other.
func newPorts(connections int) ports {
	if connections < manyConnections {
		return ports{}
	}
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return ports{}
	}
	return portsIn(string(text), os.Getpid())
}

// portsIn reads the kernel's range. Clients of several processes begin apart.
func portsIn(text string, process int) ports {
	var first, last int
	if n, err := fmt.Sscan(text, &first, &last); n != 2 || err != nil || first < 1 || last > 1<<16-1 || last < first+portWindow {
		return ports{}
	}
	count := last - first + 1 - portWindow
	const odd = 2_654_435_761 // Knuth's multiplier: neighbouring processes begin far apart
	return ports{first: first, count: count, start: int(uint64(process) * odd % uint64(count))}
}

// portsOf returns the first and the last port that connection i may have; false where
// it may have any.
func (p ports) portsOf(i int) (low, high int, ok bool) {
	if p.count == 0 {
		return 0, 0, false
	}
	low = p.first + (p.start+i)%p.count
	return low, low + portWindow - 1, true
}

// narrow makes the kernel try the ports of connection i alone. A kernel older than
// Linux 6.3 tries all.
func (p ports) narrow(raw syscall.RawConn, i int) error {
	low, high, ok := p.portsOf(i)
	if !ok {
		return nil
	}
	return raw.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_LOCAL_PORT_RANGE, int(int32(uint32(high)<<16|uint32(low))))
	})
}
