package flow

import (
	"io"
	"sync"

	"netdyno/internal/work/load"
)

// Conn is a client's connection as a Runner uses it: one goroutine receives while
// another writes.
type Conn interface {
	// Write writes all bytes or returns an error.
	io.Writer
	// Receive waits for bytes, drops them and returns how many they were. It may
	// wait until as many have come as the next exchange is missing.
	Receive(missing int64) (int, error)
	// Close breaks the connection, so that Write and Receive return.
	io.Closer
}

// Runner implements wire.Runner by blocking calls: each connection has one
// goroutine, or two where an exchange is sent while another is received.
type Runner struct {
	*load.Connections
	load *load.Load
	work *Work
	conn func(i int) Conn
}

// NewRunner returns a runner over connections that are open when Run is called.
func NewRunner(l *load.Load, work *Work, conn func(i int) Conn) *Runner {
	return &Runner{load.NewConnections(l), l, work, conn}
}

// Load implements wire.Runner.
func (r *Runner) Load() *load.Load { return r.load }

// Run implements wire.Runner.
func (r *Runner) Run() error {
	var wait sync.WaitGroup
	for i := range r.load.ActiveConnections() {
		wait.Go(func() { r.drive(i) })
	}
	wait.Wait()
	return r.Err()
}

// drive makes the exchanges of one connection.
func (r *Runner) drive(i int) {
	agenda, conn, slots := &Agenda{}, r.conn(i), r.load.Slots(i)
	client := NewClient(r.work, slots, agenda)
	var err error
	if len(slots) == 1 && !r.work.concurrent() {
		err = r.inTurn(client, agenda, conn)
	} else {
		err = newPipeline(r, client, agenda, conn).run()
	}
	if err != nil {
		r.Lose(i)
	}
}

// abandon gives up the flow of a connection that broke with err.
func (r *Runner) abandon(client *Client, err error) {
	if r.Closed() {
		client.Abandon("")
	} else {
		client.Abandon(load.KindOf(err))
	}
}

// inTurn makes one exchange after the other: it writes all of one, then receives.
func (r *Runner) inTurn(client *Client, agenda *Agenda, conn Conn) error {
	waiter := r.load.NewWaiter()
	for client.Begin(); agenda.Held() > 0; {
		if due, waiting := agenda.Due(); waiting {
			if !waiter.Until(due) {
				agenda.End(load.Now())
				continue
			}
			agenda.Fire(max(due, load.Now()))
		}
		if err := exchange(client, conn); err != nil {
			r.abandon(client, err)
			return err
		}
	}
	return nil
}

func exchange(client *Client, conn Conn) error {
	for client.Unsent() {
		piece := client.Outgoing()
		client.Written(len(piece))
		if _, err := conn.Write(piece); err != nil {
			return err
		}
	}
	for answered := client.answered; answered == client.answered; {
		n, err := conn.Receive(client.missing())
		if err == nil {
			err = client.took(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
