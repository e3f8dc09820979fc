package netpoll

import (
	"sync"

	"github.com/cloudwego/netpoll"
	"golang.org/x/sys/unix"

	"netdyno/internal/work/load"
)

// connection is one connection of a client. Answers come in the order of the
// messages, so the calls in flight read one after the other: each passes the
// turn to the call that wrote after it.
type connection struct {
	*netpoll.TCPConnection
	payload []byte

	writing sync.Mutex // one message after the other

	mu      sync.Mutex
	reading bool            // somebody has the turn
	queue   []chan struct{} // those that wrote and wait for theirs
}

// write sends the message; it returns when the kernel has all of it.
func (c *connection) write() error {
	if _, err := c.Writer().WriteBinary(c.payload); err != nil {
		return err
	}
	return c.Writer().Flush()
}

// call returns one slot's exchanges.
func (c *connection) call() load.Call {
	turn := make(chan struct{}, 1)
	return func() (int64, error) {
		c.writing.Lock()
		mine := c.line(turn)
		err := c.write()
		c.writing.Unlock()
		if !mine {
			<-turn
		}
		defer c.pass()
		if err != nil {
			return 0, err
		}
		// Skip waits for the whole answer and drops it where it lies.
		if err := c.Reader().Skip(len(c.payload)); err != nil {
			return 0, err
		}
		return int64(len(c.payload)), c.Reader().Release()
	}
}

// line takes a place in the order of reading, and reports whether it is the turn
// already.
func (c *connection) line(turn chan struct{}) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.reading {
		c.reading = true
		return true
	}
	c.queue = append(c.queue, turn)
	return false
}

// pass ends a turn.
func (c *connection) pass() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.queue) == 0 {
		c.reading = false
		return
	}
	c.queue[0] <- struct{}{}
	n := copy(c.queue, c.queue[1:])
	c.queue = c.queue[:n]
}

// breakOff makes every call on the connection fail.
func (c *connection) breakOff() {
	_ = unix.Shutdown(c.Fd(), unix.SHUT_RDWR) // it may be broken already
}
