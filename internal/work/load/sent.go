package load

import (
	"errors"
	"math"

	"netdyno/internal/contract"
)

// UnsentError is an error of an exchange whose request never went out: no connection was
// there to carry it.
type UnsentError struct{ Err error }

// Error implements error.
func (u UnsentError) Error() string { return u.Err.Error() }

// Unwrap returns the error, whose kind and reason it has.
func (u UnsentError) Unwrap() error { return u.Err }

func unsent(err error) bool { return err != nil && errors.As(err, new(UnsentError)) }

// Telling gives a fatal error what its client had sent until then; nil is not known.
func Telling(err error, sent *contract.Sent) error {
	var known *contract.Error
	if sent == nil || !errors.As(err, &known) {
		return err
	}
	told := *known
	told.Sent = sent
	return &told
}

// Requester is a client that knows more of its requests than its exchanges tell.
type Requester interface {
	// Requests returns how many it sent before it was ready, each counted once, and how
	// often any went out again, before ready or later. Call it when Run has returned.
	Requests() (first, again int64)
}

// SentBy returns all that a client has sent; nil where it does not know. Call it when Run
// has returned.
func SentBy(c Client) *contract.Sent {
	sent := ResultSourceOf(c).Sent()
	if sent == nil {
		return nil
	}
	if r, knows := c.(Requester); knows {
		sent.Verify, sent.Again = r.Requests()
	} else {
		sent.Verify = int64(c.Ready().Verified)
	}
	return sent
}

// Sent returns the requests of the load's exchanges, each once. Call it as Result.
func (l *Load) Sent() *contract.Sent {
	sent := &contract.Sent{Before: l.before.sent(), Window: l.pastSent + l.window.sent(), Drain: l.drain.sent()}
	for _, p := range l.closed {
		sent.Window += p.phase.sent()
	}
	closing := l.closeNs.Load()
	for i := range l.slots {
		if s := &l.slots[i]; s.pending.Load() <= min(closing, math.MaxInt64-1) && !s.held {
			sent.Drain++
		}
	}
	return sent
}

// sent is how many requests ended in the phase.
func (p phase) sent() int64 {
	n := int64(0)
	for _, c := range p {
		n += c.exchanges.Load() - c.unsent.Load()
		for i := range c.errors {
			n += c.errors[i].Load()
		}
	}
	return n
}
