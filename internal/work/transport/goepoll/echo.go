package goepoll

import "syscall"

// echo moves bytes until the connection is drained, blocked or has had its turn.
func (i *instance) echo(c *served) {
	if !i.flush(c) {
		return
	}
	for range turns {
		n, errno := read(c.fd, i.buf)
		switch {
		case errno == syscall.EAGAIN:
			return
		case errno == syscall.EINTR:
			continue
		case errno != 0 || n == 0:
			i.drop(c)
			return
		}
		i.received.Add(int64(n))
		m, errno := send(c.fd, i.buf[:n])
		if errno != 0 && errno != syscall.EAGAIN {
			i.drop(c)
			return
		}
		i.sent.Add(int64(m))
		if m < n {
			c.pending = append(c.pending, i.buf[m:n]...)
			return // the next writable edge goes on
		}
		if n < len(i.buf) && !c.hangup {
			return // a short read has drained the socket; more raises a new edge
		}
	}
	i.resume(c)
}

// flush sends what is pending and reports whether the way is free.
func (i *instance) flush(c *served) bool {
	for len(c.pending) > 0 {
		m, errno := send(c.fd, c.pending)
		switch {
		case errno == syscall.EAGAIN:
			return false
		case errno != 0:
			i.drop(c)
			return false
		}
		i.sent.Add(int64(m))
		c.pending = c.pending[m:]
	}
	c.pending = nil
	return true
}
