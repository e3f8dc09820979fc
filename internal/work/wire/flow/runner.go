package flow

import (
	"sync"

	"netdyno/internal/work/load"
)

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
