package netpoll

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/cloudwego/netpoll"
	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// Bounds on making and verifying connections.
const (
	dialing  = 128 // at once
	patience = 10 * time.Second
)

// client drives its connections by blocking calls, one goroutine for each slot.
type client struct {
	*load.SlotRunner
	pollers int
	work    *wire.Work
	routes  []wire.Route
	conns   []*connection

	mu      sync.Mutex
	running bool
	closed  bool
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
	n, err := configure(setup)
	if err != nil {
		return nil, err
	}
	l, err := load.NewForGoroutines(setup)
	if err != nil {
		return nil, err
	}
	c := &client{pollers: n, work: work, routes: routes, conns: make([]*connection, len(routes))}
	c.SlotRunner = load.NewSlotRunner(l, func(connection, _ int) load.Call { return c.conns[connection].call() })
	var group errgroup.Group
	group.SetLimit(dialing)
	for i := range c.conns {
		group.Go(func() error { return c.connect(i) })
	}
	if err := group.Wait(); err != nil {
		_ = c.Close() // the first failure is the one to report
		return nil, err
	}
	return c, nil
}

// connect opens one connection and verifies one message on it.
func (c *client) connect(i int) error {
	route := c.routes[i]
	failure := func(err error) error { return wire.ConnectFailure(i, len(c.routes), route, err) }
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var source *netpoll.TCPAddr
	if route.Source.IsValid() {
		source = &netpoll.TCPAddr{TCPAddr: net.TCPAddr{IP: route.Source.AsSlice()}}
	}
	conn, err := netpoll.DialTCP(ctx, "tcp", source, &netpoll.TCPAddr{TCPAddr: *net.TCPAddrFromAddrPort(route.Peer)})
	if err != nil {
		return failure(err)
	}
	c.conns[i] = &connection{TCPConnection: conn, payload: c.work.Up.Block}
	if err := conn.SetReadTimeout(patience); err != nil {
		return failure(err)
	}
	if err := c.conns[i].write(); err != nil {
		return failure(err)
	}
	trial := c.work.TrialDown()
	_, err = conn.Reader().Peek(int(trial.Left()))
	switch came := conn.Reader().Len(); {
	case errors.Is(err, netpoll.ErrReadTimeout):
		return wire.SilenceFailure(i, c.routes, int64(came), trial.Left(), patience)
	case err != nil && came == 0:
		return failure(err)
	}
	back, err := conn.Reader().Next(min(conn.Reader().Len(), int(trial.Left())))
	if err != nil {
		return failure(err)
	}
	trial.Add(back)
	if err := trial.Err(i); err != nil {
		return err
	}
	return errors.Join(conn.Reader().Release(), conn.SetReadTimeout(0))
}

// Ready implements load.Client.
func (c *client) Ready() contract.Ready {
	return contract.Ready{Connections: len(c.conns), Verified: len(c.conns), Options: effective(c.pollers)}
}

// Run implements load.Client.
func (c *client) Run() error {
	c.mu.Lock()
	c.running = !c.closed
	begun := c.running
	c.mu.Unlock()
	if !begun {
		return nil
	}
	err := c.SlotRunner.Run()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = false
	if c.closed {
		c.release()
	}
	return err
}

// Close implements load.Client. A connection may not be closed while a call
// reads from it (its buffers go back to a pool), so it is broken off first, and
// closed when the calls have ended.
func (c *client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	c.SlotRunner.Close()
	if !c.running {
		c.release()
		return nil
	}
	for _, conn := range c.conns {
		conn.breakOff()
	}
	return nil
}

func (c *client) release() {
	for _, conn := range c.conns {
		if conn != nil {
			_ = conn.Close() // nothing is left to write
		}
	}
}
