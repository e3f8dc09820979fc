package baidu

import (
	"fmt"

	"netdyno/internal/work/wire/baidustd"
)

// alone makes one exchange after the other on a connection that nobody else
// uses meanwhile. One goroutine uses it.
type alone struct {
	c    *client
	conn *connection
	out  outbox
}

func (c *client) alone(conn *connection) *alone {
	return &alone{c: c, conn: conn, out: outbox{copied: conn.copied}}
}

// exchange makes one exchange and judges it: a load.Call.
func (a *alone) exchange() (int64, error) {
	f, err := a.call()
	if err != nil {
		return 0, err
	}
	return a.c.judge(f)
}

// call makes a request and returns the reply, whose bytes belong to the
// connection until the next call.
func (a *alone) call() (baidustd.Frame, error) {
	a.conn.id++
	m := a.c.asking(a.conn.id)
	if err := a.out.add(&m, a.c.content); err != nil {
		return baidustd.Frame{}, invalid(err)
	}
	if err := a.out.flush(a.conn); err != nil {
		return baidustd.Frame{}, a.broke(err)
	}
	f, err := a.conn.frames.Next()
	if err != nil {
		return f, a.broke(err)
	}
	if got := f.Meta.CorrelationID; got != a.conn.id {
		return f, a.broke(fmt.Errorf("%w: a reply to call %d, expected one to %d", baidustd.ErrMalformed, got, a.conn.id))
	}
	return f, refused(f.Meta)
}

// broke closes the connection: what comes after cannot be understood.
func (a *alone) broke(err error) error {
	_ = a.conn.Close() // the reason is the error to report
	return broken(err)
}
