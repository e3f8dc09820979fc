package tool

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// hold starts the programs, waits until they have been making exchanges for a
// while, stops them, and begins to count there.
func (c *client) hold() error {
	if err := c.start(); err != nil {
		return err
	}
	begun := func() bool { return c.results.Counts().Exchanges >= c.tool.begun*int64(len(c.flows)) }
	if err := c.within(beginTimeout, begun); err != nil {
		return err
	}
	later := time.Now().Add(c.tool.ahead)
	if err := c.within(2*c.tool.ahead, func() bool { return time.Now().After(later) }); err != nil {
		return err
	}
	for _, r := range c.running {
		r.Signal(unix.SIGSTOP) // one that has ended is found when the load begins
	}
	time.Sleep(10 * time.Millisecond) // for what is on its way to an end that listens
	c.results.counters.begin()
	return nil
}

const beginTimeout = 10 * time.Second

// within waits until holds returns true. The error says that a program has ended
// before, or that the timeout has passed.
func (c *client) within(timeout time.Duration, holds func() bool) error {
	deadline := time.Now().Add(timeout)
	for !holds() {
		for _, r := range c.running {
			select {
			case <-r.Exited():
				return load.Failure(contract.Peer, fmt.Errorf("%s ended before it was ready: %s", r.Path(), c.exitReason(r)))
			default:
			}
		}
		if time.Now().After(deadline) {
			return load.Failure(contract.Timeout, fmt.Errorf("%s has made no exchanges after %v; it said: %s", c.tool.name, timeout, c.running[0].Output()))
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}
