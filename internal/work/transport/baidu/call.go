package baidu

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/baidustd"
)

// caller makes the requests of a trial and takes the replies. Any goroutine may
// use it.
type caller struct {
	service, method []byte
	content         *content
}

// request returns the meta of a request.
func (c *caller) request(id int64) baidustd.Meta {
	return baidustd.Meta{Service: c.service, Method: c.method, CorrelationID: id}
}

// accept takes a reply as an application does.
func (c *caller) accept(f baidustd.Frame) (int64, error) {
	received, err := c.content.accept(f)
	if err != nil {
		return 0, invalid(err)
	}
	return received, nil
}

func invalid(err error) error { return load.Failure(contract.Invalid, err) }

// exclusive makes one exchange after the other on a connection of its own. One goroutine
// uses it.
type exclusive struct {
	*caller
	conn *connection
	out  outbox
}

func newExclusive(c *caller, conn *connection) *exclusive {
	return &exclusive{caller: c, conn: conn, out: outbox{copied: conn.copied}}
}

// exchange implements load.Call.
func (e *exclusive) exchange() (int64, error) {
	f, err := e.call()
	if err != nil {
		return 0, err
	}
	return e.accept(f)
}

// call makes a request and returns the reply, whose bytes belong to the
// connection until the next call.
func (e *exclusive) call() (baidustd.Frame, error) {
	e.conn.id++
	m := e.request(e.conn.id)
	if err := e.out.addFrame(&m, e.content); err != nil {
		return baidustd.Frame{}, invalid(err)
	}
	if err := e.out.flush(e.conn); err != nil {
		return baidustd.Frame{}, e.fail(err)
	}
	f, err := e.conn.frames.Next()
	if err != nil {
		return f, e.fail(err)
	}
	if got := f.Meta.CorrelationID; got != e.conn.id {
		return f, e.fail(fmt.Errorf("%w: a reply to call %d, expected one to %d", baidustd.ErrMalformed, got, e.conn.id))
	}
	return f, refused(f.Meta)
}

// fail closes the connection, because what comes after cannot be understood.
func (e *exclusive) fail(err error) error {
	_ = e.conn.Close() // the reason is the error to report
	return failure(err)
}
