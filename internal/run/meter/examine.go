package meter

import (
	"netdyno/internal/contract"
	"netdyno/internal/run/meter/usage"
)

// examiner finds out what an answer that does not come is waiting for. The
// goroutine that receives commands owns it.
type examiner struct {
	worker  int
	orphans *orphans
	tcp     *connections
	waiting func() int64 // bytes of commands that the worker has not read
}

// examine looks at the worker's processes and, for a client, its connections. What
// cannot be read is left out.
func (e *examiner) examine() *contract.Examined {
	var tree usage.Tree
	roots := append([]int{e.worker}, e.orphans.living(&tree)...)
	x := &contract.Examined{UnreadBytes: e.waiting(), Stopped: tree.Stopped(roots), Exhausted: tree.Exhausted(roots)}
	x.Reached = e.tcp.reached(func() map[uint32]bool {
		r, err := usage.NewReader(e.worker)
		if err != nil {
			return nil
		}
		return r.Sockets(e.orphans.living(&tree))
	})
	return x
}

// reached sums a client's connections to its peers; nil for every other worker, and
// where the kernel does not tell.
func (c *connections) reached(held func() map[uint32]bool) *contract.Reached {
	c.mu.Lock()
	query := c.query
	c.mu.Unlock()
	if len(query.RemotePorts) == 0 {
		return nil
	}
	sockets, err := query.Dump()
	if err != nil {
		return nil
	}
	own, sum := held(), contract.Reached{}
	for i := range sockets {
		if s := &sockets[i]; own[s.Inode] {
			own[s.Inode] = false // a walk may meet one twice
			sum.Connections++
			sum.ReceivedBytes += s.ReceivedBytes
			if s.ReceivedBytes == 0 {
				sum.Silent++
			}
		}
	}
	return &sum
}
