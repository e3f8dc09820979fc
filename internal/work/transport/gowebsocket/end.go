package gowebsocket

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"netdyno/internal/contract"
	"netdyno/internal/websocket"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// end is one end of a connection whose handshake is done. One goroutine uses it, but for idle.
type end struct {
	conn   net.Conn
	state  ws.State
	reader *websocket.Reader
	out    bytes.Buffer // the frame that is being sent

	reads sync.Mutex // held by who reads: an exchange, or idle
	calls int        // of idle since the last exchange
}

// newEnd begins where the handshake ended, of which before may hold what came behind it.
// Messages of more than most bytes are refused.
func newEnd(conn net.Conn, state ws.State, before *bufio.Reader, most int64) *end {
	return &end{conn: conn, state: state, reader: websocket.NewReader(conn, before, state, most)}
}

// send sends a message in one frame.
func (e *end) send(op ws.OpCode, message []byte) error {
	h := ws.Header{Fin: true, OpCode: op, Length: int64(len(message)), Masked: e.state.ClientSide()}
	if h.Masked {
		h.Mask = ws.NewMask()
	}
	e.out.Reset()
	if err := ws.WriteHeader(&e.out, h); err != nil {
		return load.Failure(contract.Bug, err)
	}
	head := e.out.Len()
	e.out.Write(message)
	if h.Masked {
		ws.Cipher(e.out.Bytes()[head:], h.Mask, 0)
	}
	_, err := e.conn.Write(e.out.Bytes())
	return err
}

// next waits for a message, of which the first frame's head has come then.
func (e *end) next() error { return e.explain(e.reader.Next()) }

// receive appends the message to room and returns its length.
func (e *end) receive(room *bytes.Buffer) (int64, error) {
	n, err := e.reader.Message(room)
	return n, e.explain(err)
}

// idle has pings answered from the second call on that finds no exchange, until something else
// comes. Any goroutine may call it.
func (e *end) idle() {
	if !e.reads.TryLock() {
		return
	}
	if e.calls++; e.calls != 2 {
		e.reads.Unlock()
		return
	}
	go func() {
		defer e.reads.Unlock()
		e.reader.Idle()
	}()
}

// closedError says that the other end has closed the connection by a frame.
type closedError struct{ wsutil.ClosedError }

func (e closedError) Error() string {
	return "the connection was closed " + websocket.How(e.ClosedError)
}

// normal tells whether nothing is wrong: the work is done, or an end goes away.
func (e closedError) normal() bool {
	return e.Code == ws.StatusNormalClosure || e.Code == ws.StatusGoingAway || e.Code == ws.StatusNoStatusRcvd
}

// explain gives an error of the library its kind and its reason: an early end is the peer's, a
// close that says what is wrong is an answer, as a status of HTTP is, and all else that is no error
// of the connection is no WebSocket. nil stays nil.
func (e *end) explain(err error) error {
	var closed wsutil.ClosedError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &closed):
		c := closedError{closed}
		said := error(c)
		if !c.normal() {
			said = load.Failure(contract.Invalid, c)
		}
		return &load.ReasonError{Err: said, Text: "closed " + websocket.How(closed)}
	case errors.Is(err, io.EOF):
		return wire.ErrNoReply
	case errors.Is(err, wsutil.ErrMessageTooLarge):
		return load.Failure(contract.Invalid, fmt.Errorf("the message has more than %d bytes", e.reader.MaxMessageSize))
	}
	return failure(err)
}

// failure gives an error its kind, where nothing is wrong with the connection.
func failure(err error) error {
	if wrong := websocket.Wrong(err); wrong != nil {
		return load.Failure(contract.Invalid, wrong)
	}
	return err
}

// closing bounds the wait for the other end's close.
const closing = 500 * time.Millisecond

// close sends a close frame and waits until the other end has closed, too.
func (e *end) close(code ws.StatusCode, why string) {
	defer func() { _ = e.conn.Close() }() // all is said
	if e.conn.SetDeadline(time.Now().Add(closing)) != nil {
		return
	}
	why = strings.ToValidUTF8(why[:min(len(why), websocket.MostControl-2)], "") // the cut may be within a character
	if e.send(ws.OpClose, ws.NewCloseFrameBody(code, why)) != nil {
		return
	}
	_, _ = io.CopyN(io.Discard, e.conn, e.reader.MaxMessageSize) // until it ends
}
