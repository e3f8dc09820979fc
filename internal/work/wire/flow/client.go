package flow

import (
	"errors"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// errSurplus says that bytes came which nobody asked for.
var errSurplus = load.Failure(contract.Invalid, errors.New("the peer sent more than it owes"))

// Client is a client's end of one connection.
//
// Answers come in the order sent, so the exchanges are a ring of as many places as
// the connection has slots. Exchanges have growing numbers:
// answered ≤ begun ≤ queued.
type Client struct {
	work    *Work
	slots   []load.Slot
	agenda  *Agenda
	flights []flight
	lost    bool

	answered, begun, queued int64

	at      int64  // bytes written of the message under way; 0 between two
	size    int64  // of that message
	copy    uint64 // of the content's block, from which it goes out
	sent    int64  // bytes in all
	came    int64
	answers int64 // bytes that came and belong to no completed exchange
}

// flight is an exchange and when its first byte was handed to the kernel.
type flight struct {
	slot     *load.Slot
	sent     int64
	up, down int64 // sizes of its messages, in bytes
}

// NewClient returns the flow of a connection with these slots, none when it is
// idle. Slots that wait until due do so in agenda.
func NewClient(work *Work, slots []load.Slot, agenda *Agenda) *Client {
	agenda.held += len(slots)
	return &Client{work: work, slots: slots, agenda: agenda, flights: make([]flight, len(slots)), copy: work.Up.First(work.flows.Add(1))}
}

// Begin implements Flow.
func (c *Client) Begin() {
	now := load.Now()
	for i := range c.slots {
		c.queueNext(&c.slots[i], now)
	}
}

// queueNext asks a slot for its next exchange.
func (c *Client) queueNext(slot *load.Slot, now int64) {
	due, more := slot.Next(now)
	switch {
	case !more:
		c.agenda.held--
	case due > now:
		c.agenda.waiting.Push(due, waiting{c, slot})
	default:
		c.queue(slot)
	}
}

// queue takes up a slot's exchange.
func (c *Client) queue(slot *load.Slot) {
	f := c.flight(c.queued)
	f.slot, f.up, f.down = slot, c.work.Up.Bytes, c.work.Down.Bytes
	if c.work.draws != nil {
		f.up = slot.Draw().Up
		f.down = f.up // an echo
	}
	c.queued++
}

func (c *Client) flight(number int64) *flight { return &c.flights[number%int64(len(c.flights))] }

// Unsent implements Flow.
func (c *Client) Unsent() bool { return c.at > 0 || c.begun < c.queued }

// Outgoing implements Flow. Bytes are those of one message.
func (c *Client) Outgoing() []byte {
	if c.at == 0 {
		f := c.flight(c.begun)
		f.sent, c.size = load.Now(), f.up
	}
	return c.work.Up.From(c.copy, c.at, c.size)
}

// Written implements Flow.
func (c *Client) Written(n int) {
	if c.at == 0 && n > 0 {
		c.begun++
	}
	c.sent += int64(n)
	c.at += int64(n)
	c.copy = c.work.Up.After(c.copy, c.at, c.size)
	if c.at == c.size {
		c.at = 0
	}
}

// Limit implements Flow.
func (c *Client) Limit(most int) int { return most }

// Received implements Flow.
func (c *Client) Received(piece []byte) error { return c.took(len(piece)) }

// took completes exchanges with n bytes that came.
func (c *Client) took(n int) error {
	c.came += int64(n)
	c.answers += int64(n)
	if c.came > c.work.Owed(c.sent) {
		return errSurplus
	}
	now, had := int64(0), c.answers-int64(n)
	for c.inFlight() {
		f := c.flight(c.answered)
		down := f.down
		if c.answers < down && !c.work.tells {
			break
		}
		if now == 0 {
			now = load.Now()
		}
		c.tell(f, had, now)
		if c.answers < down {
			break
		}
		had = 0
		c.answered++
		c.answers -= down
		f.slot.Done(f.sent, now, down)
		c.queueNext(f.slot, now)
	}
	return nil
}

// tell says what came of a reply, of which had bytes were there before.
func (c *Client) tell(f *flight, had, now int64) {
	if !c.work.tells || c.answers == 0 {
		return
	}
	f.slot.FirstByte(now)
	for range c.work.messages(f.down).Ended(had, min(c.answers, f.down)) {
		f.slot.Event(now)
	}
}

// missing returns how many bytes complete the next exchange, of those in flight, or where they
// are told the next part of its reply.
func (c *Client) missing() int64 {
	if !c.inFlight() {
		return 0
	}
	down := c.flight(c.answered).down
	switch {
	case !c.work.tells:
		return down - c.answers
	case c.answers == 0:
		return 1
	}
	return c.work.messages(down).Missing(c.answers)
}

// Missing implements Flow.
func (c *Client) Missing() int64 { return max(1, c.missing()) }

// inFlight reports whether an answer is to come.
func (c *Client) inFlight() bool { return c.answered < c.begun }

// Keep implements Flow.
func (c *Client) Keep() {}

// Abandon implements Flow. Where nothing was in flight, a peer that sends what
// nobody asked for still counts once.
func (c *Client) Abandon(why error) {
	c.lost = true
	if why != nil && load.KindOf(why) == contract.Invalid && c.answered == c.queued && len(c.slots) > 0 {
		c.slots[0].Fail(load.UnsentError{Err: why})
	}
	for ; c.answered < c.queued; c.answered++ {
		reason := why
		if c.answered >= c.begun {
			reason = load.UnsentError{Err: why}
		}
		if slot := c.flight(c.answered).slot; why != nil {
			slot.Fail(reason)
		} else {
			slot.Break(reason)
		}
		c.agenda.held--
	}
	c.begun, c.at = c.queued, 0
}
