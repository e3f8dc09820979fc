// Package flow implements the wires echo and stream, which go-net, go-epoll and
// netpoll share: what messages contain, which bytes of a connection go out next,
// and to which exchange those that come in belong. A Flow moves no bytes itself
// (docs/decisions.md). Runner and Serve do so by
// blocking calls; an event loop brings its own way.
package flow

import (
	"sync/atomic"

	"netdyno/internal/contract"
)

// Flow is one connection's part of a trial. Whoever moves the bytes does so in
// turn:
//
//	for f.Unsent() {
//		f.Written(write(f.Outgoing()))
//	}
//	if limit := f.Limit(len(buffer)); limit > 0 {
//		f.Received(buffer[:read(buffer[:limit])]) // then write again
//	}
//
// One goroutine at a time uses a flow, unless an implementation says otherwise.
// Only Begin and a client's queue allocate.
type Flow interface {
	// Begin takes up the work: a client asks each of its slots for an exchange. It
	// is called once, before all others.
	Begin()
	// Unsent reports whether bytes wait to be written.
	Unsent() bool
	// Outgoing returns the bytes to write next, while Unsent. A client's message
	// that begins with them counts as sent now.
	Outgoing() []byte
	// Written says that the first n bytes of Outgoing were written. For bytes that do not
	// change Written may be called before the kernel has taken them, if that is before
	// their answer can come; only a server's bytes on wire echo change.
	Written(n int)
	// Limit returns how many bytes, at most most, may be read next; 0 while bytes
	// must be written first.
	Limit(most int) int
	// Missing returns how many bytes of the message that is coming are still to come, at least
	// 1: a loop may be woken no earlier than when so many are there.
	Missing() int64
	// Received takes the bytes that were read. A server on wire echo sends them
	// from where they are. The error has kind invalid: they are not what the peer
	// may send.
	Received(piece []byte) error
	// Keep copies what was received and is not written yet, because the caller is
	// about to use its buffer for something else.
	Keep()
	// Abandon ends the flow of a lost connection: exchanges in flight fail because
	// of why. Where that is nil they stay unfinished, because we broke the
	// connection.
	Abandon(why error)
}

// Traffic counts what a server's flows moved. Any goroutine may use it.
type Traffic struct{ received, sent, exchanges atomic.Int64 }

// addTo adds what was counted to counts.
func (t *Traffic) addTo(counts *contract.Counts) {
	counts.ReceivedBytes += t.received.Load()
	counts.SentBytes += t.sent.Load()
	counts.Exchanges += t.exchanges.Load()
}
