package flow

import (
	"context"
	"io"
	"net"
	"time"

	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// verifyTimeout bounds the first exchange on a connection.
const verifyTimeout = 10 * time.Second

// Dial makes connection i and verifies one exchange on it.
func (w *Work) Dial(dialer *wire.Dialer, i int) (net.Conn, error) {
	conn, err := dialer.Dial(context.Background(), i)
	if err != nil {
		return nil, err
	}
	return conn, w.Verify(conn, i, dialer.Routes())
}

// Verified is a connection as Verify uses it.
type Verified interface {
	io.ReadWriter
	SetReadDeadline(time.Time) error
}

// Verify makes one exchange on connection i, which is new, and compares what
// comes back. The error has the contract's kind and names the connection.
func (w *Work) Verify(conn Verified, i int, routes []wire.Route) error {
	deadline := time.Now().Add(verifyTimeout)
	fail := func(err error) error { return wire.ConnectFailure(i, len(routes), routes[i], err) }
	if err := conn.SetReadDeadline(deadline); err != nil {
		return fail(err)
	}
	// A message that is larger than both socket buffers would wait for itself if it
	// were sent before anything is received.
	sent := make(chan error, 1)
	up, check := w.first(i)
	go func() { sent <- send(conn, up) }()
	down := check.Left()
	buffer := make([]byte, min(down, wire.DefaultChunk))
	for check.Left() > 0 {
		n, err := conn.Read(buffer[:min(int64(len(buffer)), check.Left())])
		check.Add(buffer[:n])
		switch came := check.came; {
		case err == nil:
		case !time.Now().Before(deadline):
			return wire.SilenceFailure(i, routes, came, down, verifyTimeout)
		case came == 0:
			return fail(err)
		default:
			return check.Err(i)
		}
	}
	if err := check.Err(i); err != nil {
		return err
	}
	if err := <-sent; err != nil { // it ended before the answer's last byte came
		return fail(err)
	}
	return conn.SetReadDeadline(time.Time{})
}

// Exchange makes one exchange on a connection that carries one at a time, by
// blocking calls, and returns the bytes that came. bothWays sends and receives at
// the same time, which a message needs that the connection cannot hold. Several
// goroutines may use a Work, and one a connection and a buffer.
func (w *Work) Exchange(conn io.ReadWriter, buffer []byte, bothWays bool, x load.Draw) (int64, error) {
	up, down := w.Up, w.Down.Bytes
	if w.draws != nil {
		up.Bytes, down = x.Up, x.Up
	}
	if !bothWays {
		if err := send(conn, &up); err != nil {
			return 0, err
		}
		return receiveAll(conn, buffer, down)
	}
	sent := make(chan error, 1)
	go func() { sent <- send(conn, &up) }()
	n, err := receiveAll(conn, buffer, down)
	if err != nil {
		return n, err // the connection is broken, which ends the sending too
	}
	return n, <-sent
}

// send writes one message of a client.
func send(to io.Writer, message *Content) error {
	for at := int64(0); at < message.Bytes; {
		n, err := to.Write(message.Piece(at))
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

// receiveAll drops one message of a server, of so many bytes.
func receiveAll(from io.Reader, buffer []byte, down int64) (int64, error) {
	came := int64(0)
	for came < down {
		n, err := from.Read(buffer)
		came += int64(n)
		switch {
		case came > down:
			return came, errSurplus
		case err != nil && came < down:
			return came, err
		}
	}
	return came, nil
}
