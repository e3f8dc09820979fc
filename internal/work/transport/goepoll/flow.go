package goepoll

import (
	"errors"

	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// errSurplus says that bytes came which nobody asked for.
var errSurplus = errors.New("the peer sent more than it owes")

// flow is a client's end of one connection: which bytes go out next, and whose
// exchange is complete. It moves no bytes itself; the loop does:
//
//	for f.unsent() { f.written(send(fd, f.outgoing(now))) }
//	f.received(read(fd, scratch))
//	for done, ok := f.completed(); ok; done, ok = f.completed() { … }
//
// Answers come in the order sent, so the exchanges are a ring of as many places
// as the connection has slots, in three stretches by ever growing numbers:
// answered ≤ begun ≤ queued. The loop's thread owns it.
type flow struct {
	work    *wire.Work
	flights []flight

	answered, begun, queued int64

	at      int64 // bytes written of the message under way; 0 between two
	sent    int64 // bytes in all
	came    int64
	answers int64 // bytes that came and belong to no completed exchange
}

// flight is an exchange and when its first byte was handed to the kernel.
type flight struct {
	slot *load.Slot
	sent int64
}

func (f *flow) flight(number int64) *flight { return &f.flights[number%int64(len(f.flights))] }

// queue takes up a slot's exchange.
func (f *flow) queue(slot *load.Slot) {
	f.flight(f.queued).slot = slot
	f.queued++
}

// unsent reports whether bytes wait to be written.
func (f *flow) unsent() bool { return f.at > 0 || f.begun < f.queued }

// between reports whether no message is under way.
func (f *flow) between() bool { return f.at == 0 }

// outgoing returns the bytes to hand to the kernel now; a message that begins
// with them counts as sent now.
func (f *flow) outgoing(now int64) []byte {
	if f.at == 0 {
		f.flight(f.begun).sent = now
	}
	return f.work.Up.Piece(f.at)
}

// written says that the kernel took the first n of them.
func (f *flow) written(n int) {
	if f.at == 0 && n > 0 {
		f.begun++
	}
	f.sent += int64(n)
	if f.at += int64(n); f.at == f.work.Up.Bytes {
		f.at = 0
	}
}

// received takes note of n bytes.
func (f *flow) received(n int) error {
	f.came += int64(n)
	f.answers += int64(n)
	if f.came > f.work.Owed(f.sent) {
		return errSurplus
	}
	return nil
}

// completed takes the next exchange whose last byte has come.
func (f *flow) completed() (done flight, ok bool) {
	if f.answers < f.work.Down.Bytes {
		return flight{}, false
	}
	f.answers -= f.work.Down.Bytes
	done = *f.flight(f.answered)
	f.answered++
	return done, true
}

// abandoned takes the next exchange that will not be completed.
func (f *flow) abandoned() (lost flight, ok bool) {
	if f.answered == f.queued {
		return flight{}, false
	}
	lost = *f.flight(f.answered)
	f.answered++
	return lost, true
}
