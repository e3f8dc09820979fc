package goepoll

import (
	"syscall"

	"netdyno/internal/work/wire"
)

// stream is a server's end of one connection on wire stream.
type stream struct {
	trial    *wire.Trial // until the first message up is verified
	received int64
	sent     int64
	at       int64 // bytes sent of the message under way; 0 between two
	full     bool  // the kernel takes no more until its next writable edge
	drained  bool  // nothing is left to read until its next readable edge
}

func newStream(work *wire.Work) *stream {
	t := work.TrialUp()
	return &stream{trial: &t}
}

// stream moves a connection's bytes until it is drained, blocked or has had its
// turn.
func (i *instance) stream(c *served) {
	s := c.stream
	for range turns {
		if !s.drained && !i.take(c) {
			i.drop(c)
			return
		}
		owed := i.server.work.Owed(s.received)
		if !s.full && s.sent < owed && !i.give(c, owed) {
			i.drop(c)
			return
		}
		if s.drained && (s.full || s.sent == i.server.work.Owed(s.received)) {
			return
		}
	}
	i.resume(c)
}

// take reads once and drops what came, but for the first message, which it
// verifies; false means that the connection is over.
func (i *instance) take(c *served) bool {
	s, into := c.stream, i.buf
	if s.trial != nil {
		into = into[:min(int64(len(into)), s.trial.Left())]
	}
	n, errno := read(c.fd, into)
	switch {
	case errno == syscall.EAGAIN:
		s.drained = true
		return true
	case errno == syscall.EINTR:
		return true
	case errno != 0 || n == 0:
		return false
	}
	s.received += int64(n)
	i.received.Add(int64(n))
	if s.trial == nil {
		s.drained = n < len(into) && !c.hangup // a short read has drained the socket
		return true
	}
	if s.trial.Add(into[:n]); s.trial.Left() > 0 {
		return true
	}
	fits := s.trial.Fits()
	s.trial = nil
	return fits
}

// give writes once of what is owed; false means that the connection is over.
func (i *instance) give(c *served, owed int64) bool {
	s, down := c.stream, &i.server.work.Down
	piece := down.Piece(s.at)
	piece = piece[:min(int64(len(piece)), owed-s.sent)]
	n, errno := send(c.fd, piece)
	if errno != 0 {
		s.full = errno == syscall.EAGAIN
		return s.full || errno == syscall.EINTR
	}
	s.sent += int64(n)
	i.sent.Add(int64(n))
	if s.at += int64(n); s.at == down.Bytes {
		s.at = 0
		i.exchanges.Add(1)
	}
	return true
}
