package gonet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// patience bounds a verified exchange.
const patience = 10 * time.Second

// errSurplus says that bytes came which nobody asked for.
var errSurplus = load.Failure(contract.Invalid, errors.New("the peer sent more than it owes"))

type client struct {
	*plan
	*load.Connections
	load   *load.Load
	dialer *wire.Dialer
	links  []*link
}

// Client implements load.Transport.
func (Transport) Client(setup contract.Setup) (load.Client, error) {
	p, err := newPlan(setup)
	if err != nil {
		return nil, err
	}
	dialer, err := wire.NewDialer(setup)
	if err != nil {
		return nil, err
	}
	l, err := load.NewForGoroutines(setup)
	if err != nil {
		return nil, err
	}
	c := &client{plan: p, Connections: load.NewConnections(l), load: l, dialer: dialer, links: make([]*link, len(dialer.Routes()))}
	return wire.Connect(c, opener{c}, contract.Ready{Options: c.options})
}

// opener opens and closes a client's connections.
type opener struct{ *client }

// Open implements wire.Opener.
func (o opener) Open() error {
	err := wire.Each(len(o.links), o.connect)
	o.tellCopies()
	return err
}

// Close implements wire.Opener.
func (o opener) Close() {
	o.close()
	o.dialer.Close() // each connection's goroutines end with it
}

// connect opens one connection and verifies one exchange on it.
func (c *client) connect(i int) error {
	conn, err := c.dialer.Dial(context.Background(), i)
	if err != nil {
		return err
	}
	fail := func(err error) error { return wire.ConnectFailure(i, len(c.links), c.dialer.Routes()[i], err) }
	l, err := c.link(conn, &c.work.Up)
	if err != nil {
		return fail(err)
	}
	c.links[i] = l
	if err := l.patience(time.Now().Add(patience)); err != nil {
		return fail(err)
	}
	// The sending runs beside the receiving: a message larger than both socket
	// buffers would otherwise wait for itself.
	sent := make(chan error, 1)
	go func() { sent <- l.sendAll(&c.work.Up) }()
	trial := c.work.TrialDown()
	if err := l.verify(&trial); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			came := c.work.Down.Bytes - trial.Left()
			return wire.SilenceFailure(i, c.dialer.Routes(), came, c.work.Down.Bytes, patience)
		}
		if trial.Left() == c.work.Down.Bytes {
			return fail(err)
		}
		return trial.Err(i)
	}
	if err := trial.Err(i); err != nil {
		return err
	}
	if err := <-sent; err != nil { // it ended before the answer's last byte came
		return fail(err)
	}
	return l.patience(time.Time{})
}

// tellCopies puts into the effective options what the kernel made of zero-copy
// sends in the verified exchanges.
func (c *client) tellCopies() {
	if c.options[optionSend] != sendZerocopy {
		return
	}
	var sends, copied uint32
	for _, l := range c.links {
		if l == nil {
			return // it could not be opened
		}
		s, d := l.zero.account()
		sends, copied = sends+s, copied+d
	}
	c.options["zerocopy_copied"] = fmt.Sprintf("%d of %d sends before ready", copied, sends)
}

// Load implements wire.Runner.
func (c *client) Load() *load.Load { return c.load }

// Run implements wire.Runner.
func (c *client) Run() error {
	var wait sync.WaitGroup
	for i, l := range c.links {
		slots := c.load.Slots(i)
		switch {
		case len(slots) == 0:
		case len(slots) == 1 && !c.concurrent():
			wait.Go(func() {
				defer l.release()
				c.sequential(i, l, &slots[0])
			})
		default:
			wait.Go(func() {
				defer l.release()
				newPipeline(c, i, slots).run()
			})
		}
	}
	wait.Wait()
	return c.Err()
}

// concurrent reports whether one exchange must be sent and received at the same
// time: an echo that is larger than the socket buffers would wait for itself.
func (c *client) concurrent() bool {
	return c.work.BothWays() || !c.work.Streams() && c.work.Up.Bytes > 256<<10
}

// sequential runs one exchange after the other on a connection.
func (c *client) sequential(i int, l *link, slot *load.Slot) {
	sleep := c.load.NewWaiter()
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
		if err := c.exchange(l); err != nil {
			c.lost(i, slot, err)
			return
		}
		slot.Done(sent, load.Now(), c.work.Down.Bytes)
	}
}

// exchange sends one message and receives one.
func (c *client) exchange(l *link) error {
	if err := l.sendAll(&c.work.Up); err != nil {
		return err
	}
	left := c.work.Down.Bytes
	for left > 0 {
		n, err := l.receive(c.buffer)
		if err != nil {
			return err
		}
		left -= n
	}
	if left < 0 {
		return errSurplus
	}
	return nil
}

// lost counts a broken connection, unless we broke it: then the exchange stays
// unfinished.
func (c *client) lost(i int, slot *load.Slot, err error) {
	if !c.Closed() {
		slot.Fail(load.KindOf(err))
	}
	c.Lose(i)
}
