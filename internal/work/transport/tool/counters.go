package tool

import (
	"net/netip"
	"sync"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/tcpinfo"
)

// trafficCounter counts for programs that know nothing of a trial's window. Any
// goroutine may use it.
type trafficCounter interface {
	// readCounters returns the sums of now, which never fall. What cannot be read is left as
	// it was read last; the first failure stays (err).
	readCounters() contract.Counts
	// begin leaves out of the sums whatever has passed until now.
	begin()
	// follow adds a process of a client.
	follow(pid int)
	// err returns the first failure of reading.
	err() error
	// exchanges says how many exchanges so many bytes each way are.
	exchanges(sent, received int64) int64
	// settle waits, for a moment at most, until what ended programs carried is known.
	settle()
	// close ends what the counter has open.
	close()
}

// counters are the kernel's sums over the connections of a tool's programs. An ended
// connection keeps the counters that were last read, so that no sum falls. Any goroutine
// may use them.
type counters struct {
	query tcpinfo.Query
	role  contract.Role
	unit  exchangeUnit

	// The counters of ended connections at their end; nil: the counters that were last
	// read while the connections were open.
	endings *tcpinfo.Endings
	family  bool // the sockets of a process's descendants are its own too

	mu        sync.Mutex
	processes []int // a client's, whose sockets alone count; nil: every socket of the query
	known     map[key]entry
	open      map[pair]key // own connections that have not ended, with endings
	before    entry        // what passed before the client began to count
	failed    error
}

// key tells one connection from a later one over the same ports.
type key struct {
	local, remote netip.AddrPort
	inode         uint32
}

// pair is a connection while it lasts.
type pair struct{ local, remote netip.AddrPort }

type entry struct{ acked, received int64 }

// serverCounters count what passes through the ports where the servers listen.
func serverCounters(x contract.Exchange, ports []uint16) *counters {
	return &counters{
		query: tcpinfo.Query{LocalPorts: ports}, role: contract.Server, unit: unitOf(x), known: map[key]entry{},
	}
}

// clientCounters count the bytes on the programs' connections to the servers' ports.
// Another client of the trial may be connected to the same ports, so only sockets that a
// program holds open are its own.
func clientCounters(x contract.Exchange, ports []uint16) *counters {
	return &counters{
		query: tcpinfo.Query{RemotePorts: ports}, role: contract.Client, unit: unitOf(x), known: map[key]entry{},
	}
}

// follow adds a process of a client.
func (c *counters) follow(pid int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes = append(c.processes, pid)
}

func (c *counters) exchanges(sent, received int64) int64 {
	return c.unit.exchanges(c.role, sent, received)
}

// readCounters returns the sums of now. What the kernel does not tell is left as it was
// read last; the first failure stays (err).
func (c *counters) readCounters() contract.Counts {
	c.mu.Lock()
	defer c.mu.Unlock()
	open, err := c.refresh()
	if err != nil && c.failed == nil {
		c.failed = err
	}
	sum := c.sum()
	sum.acked -= c.before.acked
	sum.received -= c.before.received
	return contract.Counts{
		Exchanges: c.exchanges(sum.acked, sum.received),
		SentBytes: sum.acked, ReceivedBytes: sum.received, Connections: int64(open),
	}
}

// begin leaves out of the sums whatever has passed until now.
func (c *counters) begin() {
	c.readCounters()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before = c.sum()
}

func (c *counters) sum() (sum entry) {
	for _, e := range c.known {
		sum.acked += e.acked
		sum.received += e.received
	}
	return sum
}

// err returns the first failure of reading.
func (c *counters) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

// refresh reads every connection and returns how many are open.
func (c *counters) refresh() (open int, err error) {
	if err := c.takeEndings(); err != nil {
		return 0, err
	}
	own := map[uint32]bool{}
	for _, pid := range c.processes {
		tcpinfo.Held(pid, own)
		if c.family {
			for _, below := range tcpinfo.Descendants(pid) {
				tcpinfo.Held(below, own)
			}
		}
	}
	sockets, err := c.query.Dump()
	if err != nil {
		return 0, err
	}
	for _, s := range sockets {
		if c.role == contract.Client && !own[s.Inode] {
			continue
		}
		if len(c.known) >= tcpinfo.MaxSockets {
			return open, tcpinfo.ErrMany
		}
		k := key{s.Local, s.Remote, s.Inode}
		if before := c.known[key{s.Local, s.Remote, 0}]; s.Inode != 0 && before != (entry{}) {
			delete(c.known, key{s.Local, s.Remote, 0}) // it was seen before it was accepted
		}
		c.known[k] = entry{s.AckedBytes, s.ReceivedBytes}
		if c.endings != nil {
			c.open[pair{s.Local, s.Remote}] = k
		}
		open++
	}
	return open, nil
}

// watch makes the sums hold what connections carry to their very end, which the
// kernel tells when they end. close ends it.
func (c *counters) watch() (err error) {
	c.open, c.family = map[pair]key{}, true
	c.endings, err = tcpinfo.WatchEndings()
	return err
}

// takeEndings enters what the connections had carried that have ended.
func (c *counters) takeEndings() error {
	if c.endings == nil {
		return nil
	}
	return c.endings.Take(func(s tcpinfo.Socket) {
		if k, own := c.open[pair{s.Local, s.Remote}]; own {
			c.known[k] = entry{s.AckedBytes, s.ReceivedBytes}
			delete(c.open, pair{s.Local, s.Remote})
		}
	})
}

// settle waits until every connection's end is known, for a moment at most: the
// kernel tells of it in its own time.
func (c *counters) settle() {
	const moment, step = 500 * time.Millisecond, 2 * time.Millisecond
	for deadline := time.Now().Add(moment); ; time.Sleep(step) {
		c.readCounters()
		c.mu.Lock()
		settled := len(c.open) == 0
		c.mu.Unlock()
		if settled || time.Now().After(deadline) {
			return
		}
	}
}

func (c *counters) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.endings != nil {
		_ = c.endings.Close() // it was only read
		c.endings = nil       // a tick may read the sums once more
	}
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
