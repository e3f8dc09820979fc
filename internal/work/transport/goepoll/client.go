package goepoll

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

type client struct {
	work    *wire.Work
	buffers wire.Buffers
	ready   contract.Ready
	load    *load.Load
	loops   []*loop
	total   int
	closed  atomic.Bool
	alive   atomic.Int64  // active connections that still work
	begin   chan struct{} // closed when the load may begin, or never will
	once    sync.Once     // closes begin
	end     chan struct{} // closed by Close: connections stay until then, because the meter reads them after the load
	ended   sync.WaitGroup
}

// Client implements load.Transport.
func (Transport) Client(setup contract.Setup) (load.Client, error) {
	routes, err := wire.Routes(setup)
	if err != nil {
		return nil, err
	}
	work, err := wire.NewWork(setup)
	if err != nil {
		return nil, err
	}
	c := &client{work: work, buffers: wire.BuffersOf(setup), total: len(routes), begin: make(chan struct{}), end: make(chan struct{})}
	if err := c.buffers.Effective(setup.Options); err != nil {
		return nil, err
	}
	n := loops(min(max(threads(setup, ""), 0), len(routes)))
	if c.load, err = load.New(setup, n); err != nil {
		return nil, err
	}
	if err := c.makeLoops(n, load.Options(setup.Options).Int(readBuffer)); err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	// Each loop lives on one thread from its first connect to its last read.
	var group errgroup.Group
	for _, l := range c.loops {
		connected := make(chan error, 1)
		c.ended.Add(1)
		go l.live(routes, connected)
		group.Go(func() error { return <-connected })
	}
	if err := group.Wait(); err != nil {
		_ = c.Close() // the first failure is the one to report
		return nil, err
	}
	c.alive.Store(int64(c.load.ActiveConnections()))
	c.ready = contract.Ready{Connections: c.total, Verified: c.total, Threads: len(c.loops), Options: setup.Options}
	return c, nil
}

// makeLoops deals the connections to n loops in turn.
func (c *client) makeLoops(n int, buffer int64) error {
	for range n {
		p, err := newPoller()
		if err != nil {
			return err
		}
		c.loops = append(c.loops, &loop{client: c, poller: p, scratch: make([]byte, buffer)})
	}
	for i := range c.total {
		l := c.loops[i%n]
		k := &conn{number: i, fd: -1}
		slots := c.load.Slots(i)
		k.flow = flow{work: c.work, flights: make([]flight, len(slots))}
		l.conns = append(l.conns, k)
		for s := range slots {
			l.idle = append(l.idle, waiting{conn: k, slot: &slots[s]})
		}
	}
	return nil
}

// live is the whole life of one loop's thread.
func (l *loop) live(routes []wire.Route, connected chan<- error) {
	runtime.LockOSThread()
	exactTimers()
	err := l.connect(routes)
	connected <- err
	if err == nil {
		<-l.client.begin
		l.run()
		l.client.ended.Done()
		<-l.client.end
	} else {
		l.client.ended.Done()
	}
	for _, c := range l.conns {
		c.close()
	}
	l.poller.close()
}

// Ready implements load.Client.
func (c *client) Ready() contract.Ready { return c.ready }

// Load implements load.Client.
func (c *client) Load() *load.Load { return c.load }

// Run implements load.Client.
func (c *client) Run() error {
	c.release()
	finished := make(chan struct{})
	go func() { c.ended.Wait(); close(finished) }()
	select {
	case <-c.load.Ended():
		c.wake()
		<-finished
	case <-finished:
	}
	if c.alive.Load() == 0 && !c.closed.Load() {
		return load.Failure(contract.Peer, errors.New("every connection was lost"))
	}
	return nil
}

func (c *client) wake() {
	for _, l := range c.loops {
		l.poller.wake()
	}
}

// Close implements load.Client.
func (c *client) Close() error {
	if c.closed.CompareAndSwap(false, true) {
		c.release()
		c.wake()
		close(c.end)
	}
	return nil
}

func (c *client) release() { c.once.Do(func() { close(c.begin) }) }
