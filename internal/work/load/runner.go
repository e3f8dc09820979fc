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
// connection is lost, unless the error is a PassingError.
type Call func() (received int64, err error)

// PassingError is an error after which the next exchange makes the connection anew.
type PassingError struct{ Err error }

// Error implements error.
func (p PassingError) Error() string { return p.Err.Error() }

// Unwrap returns the error, whose kind and reason it has.
func (p PassingError) Unwrap() error { return p.Err }

// SlotRunner drives a load by blocking calls, with one goroutine for each slot. The
// clients of blocking libraries share it.
type SlotRunner struct {
	*Connections
	load  *Load
	calls func(connection, slot int) Call
}

// NewSlotRunner makes a runner. calls returns a slot's Call; it is called once for
// each slot, on the goroutine that will make the slot's exchanges.
func NewSlotRunner(l *Load, calls func(connection, slot int) Call) *SlotRunner {
	return &SlotRunner{NewConnections(l), l, calls}
}

// Load returns the load.
func (r *SlotRunner) Load() *Load { return r.load }

// Run drives every slot until it is let go or the runner is closed. Its error
// means that no connection is left.
func (r *SlotRunner) Run() error {
	var wait sync.WaitGroup
	for i := range r.load.ActiveConnections() {
		slots := r.load.Slots(i)
		for j := range slots {
			wait.Go(func() { r.drive(i, &slots[j], r.calls(i, j)) })
		}
	}
	wait.Wait()
	return r.Err()
}

func (r *SlotRunner) drive(connection int, slot *Slot, call Call) {
	waiter := r.load.NewWaiter()
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
		case r.Closed():
			slot.Break(err)
			return
		default:
			slot.Fail(err)
			if KindOf(err) == contract.Peer && !errors.As(err, new(PassingError)) {
				r.Lose(connection)
				return
			}
		}
	}
}

// TextOf returns an error's text without the kind that the contract shows beside
// it.
func TextOf(err error) string {
	var known *contract.Error
	if errors.As(err, &known) {
		return known.Text
	}
	return err.Error()
}

// KindOf returns the contract's kind of an exchange's error: peer unless the
// error says otherwise.
func KindOf(err error) contract.ErrorKind {
	var known *contract.Error
	if errors.As(err, &known) {
		return known.Kind
	}
	return contract.Peer
}

// Connections knows which of a load's active connections still work. Any
// goroutine may use it.
type Connections struct {
	lost   []atomic.Bool
	closed atomic.Bool
}

// NewConnections returns the active connections of a load, none of them lost.
func NewConnections(l *Load) *Connections {
	return &Connections{lost: make([]atomic.Bool, l.ActiveConnections())}
}

// Lose says that connection i does not work any more. An idle connection, which
// carries no load, is not counted.
func (c *Connections) Lose(i int) {
	if i < len(c.lost) {
		c.lost[i].Store(true)
	}
}

// Close says that the caller is about to break the connections, so that failures
// from now on count for nothing. It reports whether this call was the first.
func (c *Connections) Close() bool { return !c.closed.Swap(true) }

// Closed reports whether Close was called.
func (c *Connections) Closed() bool { return c.closed.Load() }

// Err returns an error of kind peer when every connection was lost before Close;
// else nil.
func (c *Connections) Err() error {
	if c.Closed() {
		return nil
	}
	for i := range c.lost {
		if !c.lost[i].Load() {
			return nil
		}
	}
	return Failure(contract.Peer, errors.New("every connection was lost"))
}
