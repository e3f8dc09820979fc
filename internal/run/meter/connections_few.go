package meter

import (
	"errors"
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/run/meter/usage"
	"netdyno/internal/tcpinfo"
)

// glanceEvery is how many ticks pass for each look at connections, twice as many beside
// more than contract.MaxSockets: the kernel walks past all of the host's to find a few,
// which took 9 ms of CPU time beside 10,000.
const glanceEvery = 5

// glance returns the counters of a few connections at every fifth or tenth tick, the same
// ones each time; nil at the others, before the clients have connected, and when there is
// none. held is called once, at the first tick that meets any. After an error nothing is
// read at ticks any more.
func (c *connections) glance(held func() map[uint32]bool) (*contract.TCP, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.marked || len(c.some.LocalPorts)+len(c.some.RemotePorts) == 0 {
		return nil, nil
	}
	every := glanceEvery
	if c.many {
		every *= 2
	}
	if c.ticks++; (c.ticks-1)%every != 0 {
		return nil, nil
	}
	sockets, err := c.some.Dump()
	if err != nil && !errors.Is(err, tcpinfo.ErrMany) {
		c.some = tcpinfo.Query{}
		return nil, fmt.Errorf("look at TCP connections: %w; ticks leave them out from here on", err)
	}
	if c.few == nil {
		c.few = c.few.meet(inodes(sockets), held)
	}
	t := sum(sockets, c.few)
	if t != nil {
		t.Each = nil
	}
	return t, nil
}

// asked tells whether the setup asked for readings at ticks.
func (c *connections) asked() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.timeline
}

// glance adds a brief reading to a tick of a trial with a timeline. A server that the
// worker did not start is not looked at so often.
func (u *up) glance(line []byte) ([]byte, error) {
	if u.server != nil || !u.tcp.asked() {
		return line, nil
	}
	if m, err := contract.Parse(line); err != nil {
		return nil, err
	} else if m.Meter != nil {
		return nil, lineError(line, `the key "meter" is the meter's own`)
	}
	reading, err := u.reader.Glance(u.orphans.living(&u.tree))
	if err != nil {
		fmt.Fprintln(u.log, "netdyno meter:", err)
		return line, nil
	}
	u.orphans.addTo(&reading.Process)
	reading.TCP, err = u.tcp.glance(func() map[uint32]bool { return u.reader.Sockets(u.orphans.living(&u.tree)) })
	if err != nil {
		fmt.Fprintln(u.log, "netdyno meter:", err)
	}
	reading.OwnCPUNs = usage.OwnCPU()
	decorated, err := withMeter(line, reading)
	if err != nil {
		fmt.Fprintln(u.log, "netdyno meter:", err)
		return line, nil
	}
	return decorated, nil
}
