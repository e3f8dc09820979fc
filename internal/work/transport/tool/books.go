package tool

import (
	"net/netip"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/tcpinfo"
)

// books are the kernel's sums over the connections of a tool's programs. A
// connection that has ended keeps what was last read of it, so that no sum
// falls. Any goroutine may use them.
type books struct {
	query tcpinfo.Query
	role  contract.Role
	unit  exchangeUnit

	mu        sync.Mutex
	processes []int // a client's, whose sockets alone count; nil: every socket of the query
	known     map[key]entry
	before    entry // what passed before the account began
	failed    error
}

// key tells one connection from a later one over the same ports.
type key struct {
	local, remote netip.AddrPort
	inode         uint32
}

type entry struct{ acked, received int64 }

// serverBooks count what passes through the ports where the servers listen.
func serverBooks(x contract.Exchange, ports []uint16) *books {
	return &books{
		query: tcpinfo.Query{LocalPorts: ports}, role: contract.Server, unit: unitOf(x), known: map[key]entry{},
	}
}

// clientBooks count what the programs' connections to the servers' ports carry.
// Another client of the trial may be connected to the same ones, so only
// sockets that a program holds open are its own.
func clientBooks(x contract.Exchange, ports []uint16) *books {
	return &books{
		query: tcpinfo.Query{RemotePorts: ports}, role: contract.Client, unit: unitOf(x), known: map[key]entry{},
	}
}

// follow adds a process of a client.
func (b *books) follow(pid int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.processes = append(b.processes, pid)
}

// read returns the sums of now. What the kernel does not tell is left as it was
// read last; the first failure stays (err).
func (b *books) read() contract.Counts {
	b.mu.Lock()
	defer b.mu.Unlock()
	open, err := b.refresh()
	if err != nil && b.failed == nil {
		b.failed = err
	}
	sum := b.sum()
	sum.acked -= b.before.acked
	sum.received -= b.before.received
	return contract.Counts{
		Exchanges: b.unit.exchanges(b.role, sum.acked, sum.received),
		SentBytes: sum.acked, ReceivedBytes: sum.received, Connections: int64(open),
	}
}

// begin leaves out of the sums whatever has passed until now.
func (b *books) begin() {
	b.read()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.before = b.sum()
}

func (b *books) sum() (sum entry) {
	for _, e := range b.known {
		sum.acked += e.acked
		sum.received += e.received
	}
	return sum
}

// err returns the first failure of reading.
func (b *books) err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.failed
}

// refresh reads every connection and returns how many are open.
func (b *books) refresh() (open int, err error) {
	own := map[uint32]bool{}
	for _, pid := range b.processes {
		tcpinfo.Held(pid, own)
	}
	sockets, err := b.query.Dump()
	if err != nil {
		return 0, err
	}
	for _, s := range sockets {
		if b.role == contract.Client && !own[s.Inode] {
			continue
		}
		if len(b.known) >= tcpinfo.MaxSockets {
			return open, tcpinfo.ErrMany
		}
		k := key{s.Local, s.Remote, s.Inode}
		if before := b.known[key{s.Local, s.Remote, 0}]; s.Inode != 0 && before != (entry{}) {
			delete(b.known, key{s.Local, s.Remote, 0}) // it was seen before it was accepted
		}
		b.known[k] = entry{s.AckedBytes, s.ReceivedBytes}
		open++
	}
	return open, nil
}

// exchangeUnit is how many bytes each way make an exchange; 0 for a direction
// that does not count.
type exchangeUnit struct{ up, down int64 }

// unitOf takes the messages that stream: what asks for a stream or confirms it
// a foreign program does not send.
func unitOf(x contract.Exchange) (u exchangeUnit) {
	u.up, u.down = x.Streamed()
	return u
}

// exchanges divides what has been delivered by what an exchange delivers. Of a
// stream in both directions the two are taken together: each runs at its own
// pace.
func (u exchangeUnit) exchanges(role contract.Role, sent, received int64) int64 {
	up, down := sent, received
	if role == contract.Server {
		up, down = received, sent
	}
	bytes := int64(0)
	if u.up > 0 {
		bytes += up
	}
	if u.down > 0 {
		bytes += down
	}
	return bytes / max(1, u.up+u.down)
}
