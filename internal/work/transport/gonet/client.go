package gonet

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// verifying bounds how many connections are made and tried at once.
const verifying = 128

type client struct {
	load    *load.Load
	payload []byte
	dialer  *wire.Dialer
	conns   []net.Conn
	closed  atomic.Bool
	alive   atomic.Int64 // active connections that still work
}

// Client implements load.Transport.
func (Transport) Client(setup contract.Setup) (load.Client, error) {
	payload, err := wire.EchoPayload(setup)
	if err != nil {
		return nil, err
	}
	dialer, err := wire.NewDialer(setup)
	if err != nil {
		return nil, err
	}
	// A few lanes for each thread keep goroutines off each other's cache lines.
	l, err := load.New(setup, 2*runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, load.Failure(contract.SetupFailed, err)
	}
	c := &client{load: l, payload: payload, dialer: dialer, conns: make([]net.Conn, len(dialer.Routes()))}
	var group errgroup.Group
	group.SetLimit(verifying)
	for i := range c.conns {
		group.Go(func() error { return c.connect(i) })
	}
	if err := group.Wait(); err != nil {
		_ = c.Close() // the first failure is the one to report
		return nil, err
	}
	c.alive.Store(int64(l.ActiveConnections()))
	return c, nil
}

// connect opens one connection and verifies one message on it.
func (c *client) connect(i int) error {
	conn, err := c.dialer.Dial(context.Background(), i)
	if err != nil {
		return err
	}
	c.conns[i] = conn
	r := c.dialer.Routes()[i]
	back := make([]byte, len(c.payload))
	// The write runs beside the read: a message larger than both socket
	// buffers would otherwise wait for itself.
	go func() { _, _ = conn.Write(c.payload) }() // its failure shows as a failed read
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return wire.ConnectFailure(i, len(c.conns), r, err)
	}
	n, err := io.ReadFull(conn, back)
	if err != nil && n == 0 {
		return wire.ConnectFailure(i, len(c.conns), r, err)
	}
	if err := wire.Verify(i, c.payload, back[:n]); err != nil {
		return err
	}
	return conn.SetReadDeadline(time.Time{})
}

// Ready implements load.Client.
func (c *client) Ready() contract.Ready {
	return contract.Ready{Connections: len(c.conns), Verified: len(c.conns)}
}

// Load implements load.Client.
func (c *client) Load() *load.Load { return c.load }

// Run implements load.Client.
func (c *client) Run() error {
	var wait sync.WaitGroup
	for i, conn := range c.conns {
		slots := c.load.Slots(i)
		switch len(slots) {
		case 0:
		case 1:
			wait.Add(1)
			go func() { defer wait.Done(); c.sequential(conn, &slots[0]) }()
		default:
			wait.Add(2)
			p := newPipeline(c, conn, slots)
			go func() { defer wait.Done(); p.write() }()
			go func() { defer wait.Done(); p.read() }()
		}
	}
	wait.Wait()
	if c.alive.Load() == 0 && !c.closed.Load() {
		return load.Failure(contract.Peer, errors.New("every connection was lost"))
	}
	return nil
}

// sequential runs one exchange after the other on a connection.
func (c *client) sequential(conn net.Conn, slot *load.Slot) {
	back := make([]byte, min(len(c.payload), 64<<10))
	sleep := load.NewWaiter(c.load.Ended())
	for {
		due, more := slot.Next(load.Now())
		if !more {
			return
		}
		if !sleep.Until(due) {
			slot.Cancel()
			return
		}
		sent := load.Now()
		if err := c.exchange(conn, back); err != nil {
			c.lost(slot)
			return
		}
		slot.Done(sent, load.Now(), int64(len(c.payload)))
	}
}

// exchange sends the payload and reads as much back.
func (c *client) exchange(conn net.Conn, back []byte) error {
	if len(c.payload) > 256<<10 {
		// Larger than the socket buffers: read while writing.
		failed := make(chan error, 1)
		go func() { _, err := conn.Write(c.payload); failed <- err }()
		return errors.Join(readAll(conn, back, len(c.payload)), <-failed)
	}
	if _, err := conn.Write(c.payload); err != nil {
		return err
	}
	return readAll(conn, back, len(c.payload))
}

// readAll reads and drops n bytes.
func readAll(conn net.Conn, into []byte, n int) error {
	for n > 0 {
		got, err := conn.Read(into[:min(n, len(into))])
		if err != nil {
			return err
		}
		n -= got
	}
	return nil
}

// lost counts a broken connection, unless we broke it: then the exchange stays
// unfinished.
func (c *client) lost(slot *load.Slot) {
	if c.closed.Load() {
		return
	}
	slot.Fail(contract.Peer)
	c.alive.Add(-1)
}

// Close implements load.Client.
func (c *client) Close() error {
	c.closed.Store(true)
	c.dialer.Close() // each connection's goroutines end with it
	return nil
}
