package flow

import (
	"context"
	"io"
	"net"
	"time"

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
	go func() { sent <- w.send(conn) }()
	check, buffer := w.VerifyDown(), make([]byte, min(w.Down.Bytes, wire.DefaultChunk))
	for check.Left() > 0 {
		n, err := conn.Read(buffer[:min(int64(len(buffer)), check.Left())])
		check.Add(buffer[:n])
		switch came := check.came; {
		case err == nil:
		case !time.Now().Before(deadline):
			return wire.SilenceFailure(i, routes, came, w.Down.Bytes, verifyTimeout)
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
func (w *Work) Exchange(conn io.ReadWriter, buffer []byte, bothWays bool) (int64, error) {
	if !bothWays {
		if err := w.send(conn); err != nil {
			return 0, err
		}
		return w.receive(conn, buffer)
	}
	sent := make(chan error, 1)
	go func() { sent <- w.send(conn) }()
	n, err := w.receive(conn, buffer)
	if err != nil {
		return n, err // the connection is broken, which ends the sending too
	}
	return n, <-sent
}

// send writes one message of a client.
func (w *Work) send(to io.Writer) error {
	for at := int64(0); at < w.Up.Bytes; {
		n, err := to.Write(w.Up.Piece(at))
		if err != nil {
			return err
		}
		at += int64(n)
	}
	return nil
}

// receive drops one message of a server.
func (w *Work) receive(from io.Reader, buffer []byte) (int64, error) {
	came := int64(0)
	for came < w.Down.Bytes {
		n, err := from.Read(buffer)
		came += int64(n)
		switch {
		case came > w.Down.Bytes:
			return came, errSurplus
		case err != nil && came < w.Down.Bytes:
			return came, err
		}
	}
	return came, nil
}
