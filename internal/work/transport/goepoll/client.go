package goepoll

import (
	"net"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/flow"
)

// client implements wire.Runner by event loops, one for each thread.
type client struct {
	*load.Connections
	work   *flow.Work
	load   *load.Load
	dialer *wire.Dialer
	loops  []*clientLoop
	adding sync.Mutex
}

// clientLoop drives a share of the connections.
type clientLoop struct {
	loop
	client *client
	agenda flow.Agenda
	mine   map[*flow.Client]*conn
}

// Client implements load.Transport.
func (Transport) Client(setup contract.Setup) (load.Client, error) {
	work, err := flow.NewWork(setup)
	if err != nil {
		return nil, err
	}
	dialer, err := wire.NewDialer(setup)
	if err != nil {
		return nil, err
	}
	if err := wire.BuffersOf(setup).Effective(setup.Options); err != nil {
		return nil, err
	}
	water, err := lowWater(setup)
	if err != nil {
		return nil, err
	}
	n := loops(min(max(threads(setup, ""), 0), len(dialer.Routes())))
	l, err := load.New(setup, n)
	if err != nil {
		return nil, err
	}
	work.Draw(l)
	c := &client{Connections: load.NewConnections(l), work: work, load: l, dialer: dialer}
	for range n {
		p, err := newPoller()
		if err != nil {
			return nil, load.Failure(contract.SetupFailed, err)
		}
		c.loops = append(c.loops, &clientLoop{client: c, mine: map[*flow.Client]*conn{}, loop: loop{
			poller: p, buffer: make([]byte, load.Options(setup.Options).Int(readBuffer)),
			lost: func(k *conn) { c.Lose(k.number) }, lowat: water,
		}})
	}
	return wire.Connect(c, opener{c}, contract.Ready{Threads: n, Options: setup.Options})
}

// opener opens and closes a client's connections.
type opener struct{ *client }

// Open implements wire.Opener. Package net makes the connections, so that they are
// made as go-net's are; then a loop takes over their sockets.
func (o opener) Open() error {
	defer debug.FreeOSMemory() // what package net needed is not this transport's memory
	return wire.Each(len(o.dialer.Routes()), func(i int) error {
		conn, err := o.work.Dial(o.dialer, i)
		if err != nil {
			return err
		}
		if err := o.adopt(i, conn); err != nil {
			return wire.ConnectFailure(i, len(o.dialer.Routes()), o.dialer.Routes()[i], err)
		}
		return nil
	})
}

// adopt gives a connection's socket to its loop.
func (o opener) adopt(i int, conn net.Conn) error {
	fd, err := detach(conn.(syscall.Conn))
	_ = conn.Close() // the loop has the socket by another descriptor, or the error is to be reported
	if err != nil {
		return err
	}
	o.adding.Lock()
	defer o.adding.Unlock()
	l := o.loops[i%len(o.loops)]
	f := flow.NewClient(o.work, o.load.Slots(i), &l.agenda)
	if err := l.addConnection(fd, i, f); err != nil {
		return err
	}
	l.mine[f] = l.conns[fd]
	return nil
}

// Close implements wire.Opener.
func (o opener) Close() { o.dialer.Close() }

// Release implements wire.Releaser: connections stay open after the load, because
// the meter reads them.
func (o opener) Release() {
	for _, l := range o.loops {
		l.close()
	}
}

// Load implements wire.Runner.
func (c *client) Load() *load.Load { return c.load }

// Run implements wire.Runner.
func (c *client) Run() error {
	var running sync.WaitGroup
	for _, l := range c.loops {
		running.Go(l.run)
	}
	finished := make(chan struct{})
	go func() { running.Wait(); close(finished) }()
	select {
	case <-c.load.Ended():
		c.wake()
		<-finished
	case <-finished:
	}
	return c.Err()
}

// Close implements wire.Runner.
func (c *client) Close() bool {
	first := c.Connections.Close()
	c.wake()
	return first
}

func (c *client) wake() {
	for _, l := range c.loops {
		l.poller.wake()
	}
}

// run issues the load until every slot is let go or the client is closed.
func (l *clientLoop) run() {
	runtime.LockOSThread() // never unlocked: the thread ends with it
	exactTimers()
	for f, c := range l.mine {
		f.Begin()
		l.push(c)
	}
	for l.agenda.Held() > 0 && !l.client.Closed() {
		for _, e := range l.poller.wait(l.timeout()) {
			l.handle(int(e.Fd), e.Events)
		}
		l.resume()
		l.fire()
	}
}

// timeout is how long the loop may sleep: until an exchange is due.
func (l *clientLoop) timeout() time.Duration {
	if len(l.again) > 0 {
		return 0
	}
	due, waiting := l.agenda.Due()
	if !waiting {
		return forever
	}
	return time.Duration(max(0, due-load.Now()))
}

// fire sends what has fallen due, all of it before the next wait. After the end of
// the load, slots that are due later are let go.
func (l *clientLoop) fire() {
	for f := l.agenda.Fire(load.Now()); f != nil; f = l.agenda.Fire(load.Now()) {
		l.push(l.mine[f])
	}
	select {
	case <-l.client.load.Ended():
		l.agenda.End(load.Now())
	default:
	}
}
