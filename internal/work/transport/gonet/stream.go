package gonet

import "sync"

// stream serves a connection on which the bytes of an exchange travel one way
// at a time.
func (s *server) stream(c *connection) {
	c.trial = s.work.TrialUp()
	for s.take(c) == nil && s.settle(c) == nil {
	}
}

// streamBoth serves a connection on which they travel both ways at the same
// time: this goroutine receives, another sends.
func (s *server) streamBoth(c *connection) {
	c.trial = s.work.TrialUp()
	more := make(chan struct{}, 1) // more is owed than the sender last saw
	var sending sync.WaitGroup
	sending.Go(func() {
		for range more {
			if s.settle(c) != nil {
				_ = c.Close() // ends the receiving
				return
			}
		}
	})
	for owed := int64(0); s.take(c) == nil; {
		if now := s.work.Owed(c.received.Load()); now != owed {
			owed = now
			select {
			case more <- struct{}{}:
			default: // it has not looked since the last time, and will see both
			}
		}
	}
	_ = c.Close() // ends the sending
	close(more)
	sending.Wait()
}

// take receives once. The error says that the connection is over, or that its
// first message is not what had to come.
func (s *server) take(c *connection) error {
	left := c.trial.Left()
	if left == 0 {
		n, err := c.receive(s.buffer)
		c.received.Add(n)
		return err
	}
	n, err := c.first.receive(left)
	if err != nil {
		return err
	}
	c.received.Add(n)
	if c.trial.Add(c.into[:n]); n < left {
		return nil
	}
	return c.trial.Err(0)
}

// settle sends what is owed.
func (s *server) settle(c *connection) error {
	for {
		sent := c.sent.Load()
		due := s.work.Owed(c.received.Load()) - sent
		if due == 0 {
			return nil
		}
		n, err := c.send(sent%s.work.Down.Bytes, due)
		if err != nil {
			return err
		}
		c.sent.Add(n)
	}
}
