package goquic

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/quic-go/quic-go"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/quicwire"
	"netdyno/internal/work/wire/tlswire"
)

// client opens the streams of a load.SlotRunner.
type client struct {
	*plan
	dialer   *quicwire.Dialer
	load     *load.Load
	bothWays bool             // exchanges are sent and received at the same time
	streams  [][]*quic.Stream // by connection and slot
}

// Client implements load.Transport.
func (Transport) Client(setup contract.Setup) (load.Client, error) {
	p, err := newPlan(&setup)
	if err != nil {
		return nil, err
	}
	dialer, err := quicwire.NewDialer(setup, protocol, tlswire.ClientConfig)
	if err != nil {
		return nil, err
	}
	l, err := load.NewForGoroutines(setup)
	if err != nil {
		return nil, err
	}
	p.work.Draw(l)
	c := &client{plan: p, dialer: dialer, load: l, streams: make([][]*quic.Stream, len(dialer.Routes()))}
	c.bothWays = p.work.BothWays() || !p.work.Streams() && p.work.Up.Bytes*int64(max(1, setup.Load.InFlight)) > dialer.Window()
	runner := load.NewSlotRunner(l, c.call)
	ready := maps.Clone(setup.Options)
	done, err := wire.Connect(runner, c, contract.Ready{Options: ready})
	if err != nil {
		return nil, err
	}
	maps.Copy(ready, dialer.Effective)
	return done, nil
}

// Open implements wire.Opener.
func (c *client) Open() error { return wire.Each(len(c.streams), c.openConnection) }

// openConnection makes connection i and verifies one exchange on each of its streams; an idle
// connection has one stream.
func (c *client) openConnection(i int) error {
	conn, err := c.dialer.Dial(context.Background(), i)
	if err != nil {
		return err
	}
	for range max(1, c.slots(i)) {
		stream, err := conn.OpenStream()
		var limit *quic.StreamLimitReachedError
		if errors.As(err, &limit) {
			return c.dialer.TooFewStreams(i, len(c.streams[i]), err)
		}
		if err != nil {
			return quicwire.Explain(i, c.dialer.Routes(), err)
		}
		if err := c.work.Verify(stream, i, c.dialer.Routes()); err != nil {
			return err
		}
		c.streams[i] = append(c.streams[i], stream)
	}
	return nil
}

func (c *client) slots(connection int) int {
	if connection >= c.load.ActiveConnections() {
		return 0
	}
	return len(c.load.Slots(connection))
}

// call returns what makes the exchanges of a slot.
func (c *client) call(connection, slot int) load.Call {
	stream, buffer := c.streams[connection][slot], make([]byte, c.buffer)
	of := &c.load.Slots(connection)[slot]
	return func() (int64, error) {
		n, err := c.work.Exchange(stream, buffer, c.bothWays, of.Draw())
		if err != nil {
			return n, fmt.Errorf("exchange on stream %d: %w", stream.StreamID(), err)
		}
		return n, nil
	}
}

// Close implements wire.Opener.
func (c *client) Close() { c.dialer.Close() }
