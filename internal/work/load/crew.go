package load

import (
	"errors"
	"sync"
	"sync/atomic"

	"netdyno/internal/contract"
)

// Call carries out one exchange and blocks until its last byte has come. It
// returns the payload bytes that came back. An error that is a *contract.Error
// counts by its kind, any other as peer; after one of kind peer the slot's
// connection is lost.
type Call func() (received int64, err error)

// Crew drives a load by blocking calls, one goroutine for each slot: what the
// clients of blocking libraries share.
type Crew struct {
	load   *Load
	calls  func(connection, slot int) Call
	closed atomic.Bool
	lost   []atomic.Bool // by connection
}

// NewCrew makes a crew; calls gives each slot its own Call before its first
// exchange, on the goroutine that will make it.
func NewCrew(l *Load, calls func(connection, slot int) Call) *Crew {
	return &Crew{load: l, calls: calls, lost: make([]atomic.Bool, l.ActiveConnections())}
}

// Load returns the load.
func (c *Crew) Load() *Load { return c.load }

// Run drives every slot until it is let go or the crew is closed. Its error
// means that no connection is left.
func (c *Crew) Run() error {
	var wait sync.WaitGroup
	for i := range c.load.ActiveConnections() {
		slots := c.load.Slots(i)
		for j := range slots {
			wait.Go(func() { c.drive(i, &slots[j], c.calls(i, j)) })
		}
	}
	wait.Wait()
	if c.closed.Load() {
		return nil
	}
	for i := range c.lost {
		if !c.lost[i].Load() {
			return nil
		}
	}
	return Failure(contract.Peer, errors.New("every connection was lost"))
}

func (c *Crew) drive(connection int, slot *Slot, call Call) {
	waiter := c.load.NewWaiter()
	for {
		due, more := slot.Next(Now())
		if !more {
			return
		}
		if !waiter.Until(due) {
			slot.Cancel()
			return
		}
		sent := Now()
		received, err := call()
		switch {
		case err == nil:
			slot.Done(sent, Now(), received)
		case c.closed.Load():
			return // we broke it off: the exchange stays unfinished
		default:
			kind := KindOf(err)
			slot.Fail(kind)
			if kind == contract.Peer {
				c.lost[connection].Store(true)
				return
			}
		}
	}
}

// Close makes failures from now on count for nothing: the caller is about to
// break its connections. It reports whether this call was the first.
func (c *Crew) Close() bool { return !c.closed.Swap(true) }

// KindOf returns the contract's kind of an exchange's error: peer unless the
// error says otherwise.
func KindOf(err error) contract.ErrorKind {
	var known *contract.Error
	if errors.As(err, &known) {
		return known.Kind
	}
	return contract.Peer
}
