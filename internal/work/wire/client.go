package wire

import (
	"context"
	"sync"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// connecting bounds how many connections are dialled, verified or closed at once.
const connecting = 128

// Each calls do for 0 to n-1, at most 128 at once, and returns the first error.
// After an error it begins no more calls. Clients open their connections by it.
func Each(n int, do func(i int) error) error {
	group, ctx := errgroup.WithContext(context.Background())
	group.SetLimit(connecting)
	for i := range n {
		group.Go(func() error {
			select {
			case <-ctx.Done():
				return nil // the first failure is the one to report
			default:
				return do(i)
			}
		})
	}
	return group.Wait()
}

// Opener opens and closes the connections of a client. It is the part of a
// client that each transport writes itself.
type Opener interface {
	// Open opens every connection and verifies one exchange on each. The error has
	// the contract's kind and names the connection.
	Open() error
	// Close breaks every open connection, so that the exchanges on them end. It is called
	// once, also after Open has failed.
	Close()
}

// Releaser is an Opener that must not free a connection while an exchange uses it.
type Releaser interface {
	// Release frees what Close has left. It is called once, after Close, when no
	// exchange is being made any more.
	Release()
}

// Repeater is an Opener that sends a connection's first exchange again where another's
// server was not ready for it.
type Repeater interface {
	// Repeated returns how many were sent again. It is called after Open.
	Repeated() int
}

// Requester is an Opener that knows more of its requests than its exchanges tell.
type Requester interface {
	// Requests is as that of load.Requester; it may be called after Open has failed.
	Requests() (first, again int64)
}

// Runner makes the exchanges of a load on open connections: a load.SlotRunner by
// blocking calls, a flow.Runner on the wires echo and stream.
type Runner interface {
	Load() *load.Load
	// Run makes exchanges until every slot is let go or the connections are broken.
	// Its error means that every connection was lost. It is called once at most.
	Run() error
	// Close makes failures from now on count for nothing, and reports whether this
	// call was the first.
	Close() bool
}

// Client implements load.Client for every transport: it opens and verifies the
// connections, runs the load on them, and closes them.
type Client struct {
	ready  contract.Ready
	runner Runner
	opener Opener

	mu              sync.Mutex
	running, closed bool
}

// Connect opens and verifies the connections of the runner's load. ready is what
// the client will say of itself; the number of connections is filled in.
func Connect(runner Runner, opener Opener, ready contract.Ready) (*Client, error) {
	n := runner.Load().Plan().Connections
	ready.Connections, ready.Verified = n, n
	c := &Client{ready: ready, runner: runner, opener: opener}
	if err := opener.Open(); err != nil {
		_ = c.Close() // the first failure is the one to report
		return nil, c.telling(err)
	}
	if r, ok := opener.(Repeater); ok {
		c.ready.Repeated = r.Repeated()
	}
	return c, nil
}

// telling adds to a failure to open what was sent until then, where that is known.
func (c *Client) telling(err error) error {
	if _, knows := c.opener.(Requester); !knows {
		return err
	}
	first, again := c.Requests()
	return load.Telling(err, &contract.Sent{Verify: first, Again: again})
}

// Requests implements load.Requester: what the opener says, one for each connection when
// it does not know.
func (c *Client) Requests() (first, again int64) {
	if r, knows := c.opener.(Requester); knows {
		return r.Requests()
	}
	return int64(c.ready.Verified), 0
}

// Ready implements load.Client.
func (c *Client) Ready() contract.Ready { return c.ready }

// Load implements load.Client.
func (c *Client) Load() *load.Load { return c.runner.Load() }

// Run implements load.Client.
func (c *Client) Run() error {
	c.mu.Lock()
	c.running = !c.closed
	begun := c.running
	c.mu.Unlock()
	if !begun {
		return nil
	}
	err := c.runner.Run()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running = false; c.closed {
		c.release()
	}
	return err
}

// Close implements load.Client.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	c.runner.Close()
	c.opener.Close()
	if !c.running {
		c.release()
	}
	return nil
}

func (c *Client) release() {
	if r, ok := c.opener.(Releaser); ok {
		r.Release()
	}
}

// Reconnects implements load.Reconnector: what the opener says, 0 when it never
// connects again.
func (c *Client) Reconnects() int64 {
	if r, ok := c.opener.(load.Reconnector); ok {
		return r.Reconnects()
	}
	return 0
}
