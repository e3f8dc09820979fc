package gowebsocket

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/gobwas/ws"

	"netdyno/internal/contract"
	"netdyno/internal/websocket"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/tlswire"
)

// server answers each message on a goroutine of its connection.
type server struct {
	*tlswire.Server
	content *codec.Exchange
	stream  *wire.Paced // nil of replies that travel whole
}

// Server implements load.Transport.
func (t Transport) Server(setup contract.Setup) (load.Server, error) {
	content, err := codec.New(setup, t.Codecs)
	if err != nil {
		return nil, err
	}
	s := &server{content: content, stream: wire.PacedOf(setup.Exchange)}
	if s.Server, err = tlswire.NewServer(setup, content.Sizes(contract.Ready{})); err != nil {
		return nil, err
	}
	var connections sync.WaitGroup
	s.Serve(func(l net.Listener) error {
		for {
			conn, err := l.Accept()
			if err != nil {
				return err
			}
			connections.Go(func() {
				defer func() { _ = conn.Close() }() // a second close changes nothing
				s.converse(conn)
			})
		}
	}, func() error {
		connections.Wait() // all are closed by now
		return nil
	})
	return s, nil
}

// converse answers the messages of a connection until it ends; the client counts what fails.
func (s *server) converse(conn net.Conn) {
	if s.TLS != nil {
		conn = tls.Server(conn, s.TLS)
	}
	u := ws.Upgrader{Protocol: func([]byte) bool { return true }}
	if _, err := u.Upgrade(websocket.Bounded(conn)); err != nil { // the library answers requests of HTTP
		if errors.Is(err, ws.ErrMalformedRequest) {
			_, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") // who asks may be gone
		}
		return
	}
	e := newEnd(conn, ws.StateServerSide, nil, s.content.UpBytes)
	var request bytes.Buffer
	var reply []byte
	for {
		request.Reset()
		err := e.next()
		if err == nil {
			_, err = e.receive(&request)
		}
		if err != nil {
			if load.KindOf(err) == contract.Invalid {
				e.close(ws.StatusProtocolError, load.TextOf(err))
			}
			return
		}
		if reply, err = s.content.RespondTo(reply[:0], request.Bytes(), ""); err != nil {
			e.close(ws.StatusPolicyViolation, err.Error())
			return
		}
		if s.stream.Send(reply, func(message []byte) error { return e.send(ws.OpBinary, message) }) != nil {
			return
		}
		s.Count(int64(request.Len()), int64(len(reply)))
		if !s.content.Structured() {
			reply = nil // it is the content of all
		}
	}
}
