// Package websocket is what every end of a WebSocket (RFC 6455) does here, on top of
// github.com/gobwas/ws: how a user's headers make a handshake, and how messages are read.
package websocket

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"netdyno/internal/head"
	"netdyno/internal/quantity"
)

// protocolHeader names the protocols above WebSocket that a client speaks.
var protocolHeader = http.CanonicalHeaderKey("Sec-WebSocket-Protocol")

// Shake makes the handshake with a user's headers, without Host; host is "" for the URL's. What is
// answered in place of 101 goes to refused, where it is HTTP. before is as NewReader takes it.
func Shake(conn net.Conn, u *url.URL, fields []head.Field, host string, refused func(*http.Response)) (before *bufio.Reader, shaken ws.Handshake, err error) {
	header, protocols := http.Header{}, []string(nil)
	for _, f := range fields {
		header.Add(f.Name, f.Value)
	}
	for p := range strings.SplitSeq(strings.Join(header[protocolHeader], ","), ",") {
		if p = strings.TrimSpace(p); p != "" {
			protocols = append(protocols, p)
		}
	}
	delete(header, protocolHeader) // the library writes it
	d := ws.Dialer{Protocols: protocols, Host: host, Header: ws.HandshakeHeaderHTTP(header), OnStatusError: func(_ int, _ []byte, reply io.Reader) {
		r, err := http.ReadResponse(bufio.NewReader(reply), nil)
		if err != nil {
			return
		}
		defer r.Body.Close()
		refused(r)
	}}
	bounded := Bounded(conn)
	before, shaken, err = d.Upgrade(bounded, u)
	bounded.left = math.MaxInt
	return before, shaken, err
}

// mostHead bounds what is read of a handshake, in bytes.
const mostHead = 64 << 10

// Head is a connection on which a handshake is made, of which the library bounds no line.
type Head struct {
	net.Conn
	left int // bytes that may be read
}

// Bounded begins a handshake.
func Bounded(conn net.Conn) *Head { return &Head{conn, mostHead} }

// Read implements io.Reader.
func (h *Head) Read(p []byte) (int, error) {
	if h.left == 0 {
		return 0, fmt.Errorf("a handshake of more than %d bytes", mostHead)
	}
	n, err := h.Conn.Read(p[:min(len(p), h.left)])
	h.left -= n
	return n, err
}

// MostControl is the largest payload of a control frame, in bytes (RFC 6455, section 5.5).
const MostControl = 125

// Reader reads the messages of one end's connection. One goroutine uses it.
type Reader struct {
	wsutil.Reader
	conn   net.Conn
	from   *bufio.Reader
	text   bool  // the message is one
	failed error // of Idle's reading
}

// NewReader begins where the handshake ended, of which before holds what came behind it; nil
// for nothing. Messages of more than most bytes are refused, 125 taken in any case.
func NewReader(conn net.Conn, before *bufio.Reader, of ws.State, most int64) *Reader {
	if before == nil {
		before = bufio.NewReader(conn)
	}
	r := &Reader{conn: conn, from: before}
	r.Reader = wsutil.Reader{Source: before, State: of, MaxMessageSize: max(MostControl, most), OnIntermediate: r.answer}
	return r
}

// Next waits for a message, of which the first frame's head has come then, and answers what
// comes before it. A close is a wsutil.ClosedError.
func (r *Reader) Next() error {
	if r.failed != nil && r.from.Buffered() == 0 {
		return r.failed
	}
	for {
		h, err := r.NextFrame()
		if err != nil || !h.OpCode.IsControl() {
			r.text = h.OpCode == ws.OpText
			return err
		}
		if err := r.take(h); err != nil {
			return err
		}
	}
}

// Message appends the message that Next has found to room, and returns its length.
func (r *Reader) Message(room *bytes.Buffer) (int64, error) {
	n, err := room.ReadFrom(r)
	if err == nil && r.text && !utf8.Valid(room.Bytes()[room.Len()-int(n):]) {
		err = errors.New("text that is not UTF-8")
	}
	return n, err
}

// Idle answers pings while no message is expected, until anything else comes, which it leaves
// to Next, or reading fails.
func (r *Reader) Idle() {
	for {
		var first []byte
		if first, r.failed = r.from.Peek(2); r.failed != nil || first[0] != fin|byte(ws.OpPing) && first[0] != fin|byte(ws.OpPong) || first[1] > MostControl {
			return
		}
		if _, r.failed = r.from.Peek(2 + int(first[1])); r.failed != nil {
			return
		}
		if h, err := r.NextFrame(); err != nil || r.take(h) != nil {
			return
		}
	}
}

const fin = 0x80 // the bit of a frame that ends its message

// take answers a control frame that is not within a message.
func (r *Reader) take(h ws.Header) error {
	if err := r.answer(h, &r.Reader); err != nil {
		return err
	}
	if h.Length == 0 {
		_ = r.Discard() // there is nothing, which nobody has read
	}
	return nil
}

// answer answers a control frame.
func (r *Reader) answer(h ws.Header, payload io.Reader) error {
	said := make([]byte, h.Length) // at most MostControl, as the library has checked
	if _, err := io.ReadFull(payload, said); errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF // an end would be that of the message
	} else if err != nil {
		return err
	}
	switch h.OpCode {
	case ws.OpPing:
		r.say(ws.OpPong, said)
		return nil
	case ws.OpPong:
		return nil
	}
	code, reason := ws.ParseCloseFrameData(said)
	switch {
	case len(said) == 0:
		code = ws.StatusNoStatusRcvd
	case !maySay(code) || !utf8.ValidString(reason):
		r.say(ws.OpClose, ws.NewCloseFrameBody(ws.StatusProtocolError, ""))
		return fmt.Errorf("a close with code %d and reason %q, expected a code that may be sent and UTF-8", code, quantity.Clip(reason, 100))
	}
	r.say(ws.OpClose, said[:min(len(said), 2)])
	return wsutil.ClosedError{Code: code, Reason: reason}
}

// say sends a control frame in one write: a message may be sent at the same time.
func (r *Reader) say(op ws.OpCode, payload []byte) {
	f := ws.NewFrame(op, true, payload)
	if r.State.ClientSide() {
		f = ws.MaskFrameInPlace(f)
	}
	if frame, err := ws.CompileFrame(f); err == nil {
		_, _ = r.conn.Write(frame) // a connection that broke shows in the next read
	}
}

// maySay tells whether a close may have the code (RFC 6455, section 7.4; the library refuses
// those that were registered later, such as 1012).
func maySay(code ws.StatusCode) bool {
	return code >= ws.StatusNormalClosure && code <= ws.StatusRangePrivate.Max && code != ws.StatusNoMeaningYet && !code.IsProtocolReserved()
}

// How says how a connection was closed: with a code, and the reason where one is given.
func How(closed wsutil.ClosedError) string {
	switch {
	case closed.Code == ws.StatusNoStatusRcvd:
		return "without a code"
	case closed.Reason == "":
		return fmt.Sprintf("with %d", closed.Code)
	}
	return fmt.Sprintf("with %d (%q)", closed.Code, quantity.Clip(closed.Reason, 100))
}

// Wrong says of an error of the handshake or of reading that what came is not WebSocket; nil where the
// connection failed.
func Wrong(err error) error {
	var network net.Error
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &network) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return fmt.Errorf("what came is not WebSocket: %w", err)
}
