package tool

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// hold starts the programs, waits until they are under way, stops them where
// they are and lets their account begin there.
func (c *client) hold() error {
	if err := c.start(); err != nil {
		return err
	}
	begun := func() bool { return c.account.Counts().Exchanges >= underWay*int64(len(c.flows)) }
	if err := c.within(patienceToBegin, begun); err != nil {
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
	c.account.books.begin()
	return nil
}

const (
	patienceToBegin = 10 * time.Second
	underWay        = 100 // exchanges of a program that has begun; before it may try a few
)

// within waits until something holds. The error is a program that has ended, or
// that patience has.
func (c *client) within(patience time.Duration, holds func() bool) error {
	deadline := time.Now().Add(patience)
	for !holds() {
		for _, r := range c.running {
			select {
			case <-r.Exited():
				return load.Failure(contract.Peer, fmt.Errorf("%s ended before it was ready: %s", r.Path(), c.last(r)))
			default:
			}
		}
		if time.Now().After(deadline) {
			return load.Failure(contract.Timeout, fmt.Errorf("%s is not under way after %v; it said: %s", c.tool.name, patience, c.running[0].Said()))
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}
