package flow

import "io"

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
