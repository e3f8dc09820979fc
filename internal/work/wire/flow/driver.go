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

// driver moves the bytes of one client's connection by blocking calls.
type driver struct {
	load        *load.Load
	connections *load.Connections
	conn        Conn
	client      *Client
	agenda      *Agenda // the client's own
}

// inTurn makes one exchange after the other: it writes all of one, then receives.
// The error says that the connection was lost.
func (d *driver) inTurn() error {
	waiter := d.load.NewWaiter()
	for d.client.Begin(); d.agenda.Held() > 0; {
		if due, waiting := d.agenda.Due(); waiting {
			if !waiter.Until(due) {
				d.agenda.End(load.Now())
				continue
			}
			d.agenda.Fire(max(due, load.Now()))
		}
		if err := d.exchange(); err != nil {
			d.abandon(err)
			return err
		}
	}
	return nil
}

func (d *driver) exchange() error {
	for d.client.Unsent() {
		piece := d.client.Outgoing()
		d.client.Written(len(piece))
		if _, err := d.conn.Write(piece); err != nil {
			return err
		}
	}
	for answered := d.client.answered; answered == d.client.answered; {
		n, err := d.conn.Receive(d.client.missing())
		if err == nil {
			err = d.client.took(n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// abandon gives up the flow, because the connection broke with err.
func (d *driver) abandon(err error) {
	if d.connections.Closed() {
		d.client.Abandon(nil)
	} else {
		d.client.Abandon(err)
	}
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
	slots := r.load.Slots(i)
	d := driver{load: r.load, connections: r.Connections, conn: r.conn(i), agenda: &Agenda{}}
	d.client = NewClient(r.work, slots, d.agenda)
	var err error
	if len(slots) == 1 && !r.work.concurrent() {
		err = d.inTurn()
	} else {
		err = newPipeline(d).run()
	}
	if err != nil {
		r.Lose(i)
	}
}
