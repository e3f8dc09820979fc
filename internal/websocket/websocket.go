// Package websocket is what every end of a WebSocket (RFC 6455) does here, on top of
// github.com/gobwas/ws: how a user's headers make a handshake, and how messages are read.
package websocket

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"netdyno/internal/head"
)

// protocolHeader names the protocols above WebSocket that a client speaks.
var protocolHeader = http.CanonicalHeaderKey("Sec-WebSocket-Protocol")

// Dialer makes the handshake with a user's headers, without Host; host is "" for the URL's. What is
// answered in place of 101 goes to refused, where it is HTTP.
func Dialer(fields []head.Field, host string, refused func(*http.Response)) ws.Dialer {
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
	return ws.Dialer{Protocols: protocols, Host: host, Header: ws.HandshakeHeaderHTTP(header), OnStatusError: func(_ int, _ []byte, reply io.Reader) {
		r, err := http.ReadResponse(bufio.NewReader(reply), nil)
		if err != nil {
			return
		}
		defer r.Body.Close()
		refused(r)
	}}
}

// MostControl is the largest payload of a control frame, in bytes (RFC 6455, section 5.5).
const MostControl = 125

// Reader reads the messages of one end's connection. One goroutine uses it.
type Reader struct{ wsutil.Reader }

// NewReader begins where the handshake ended, of which before holds what came behind it; nil
// for nothing. Messages of more than most bytes are refused, 125 taken in any case.
func NewReader(conn net.Conn, before *bufio.Reader, of ws.State, most int64) *Reader {
	if before == nil {
		before = bufio.NewReader(conn)
	}
	return &Reader{wsutil.Reader{
		Source: before, State: of, MaxMessageSize: max(MostControl, most), OnIntermediate: wsutil.ControlFrameHandler(answers{conn}, of),
	}}
}

// Next waits for a message, of which the first frame's head has come then, and answers what
// comes before it. A close is a wsutil.ClosedError.
func (r *Reader) Next() error {
	for {
		h, err := r.NextFrame()
		if err != nil || !h.OpCode.IsControl() {
			return err
		}
		if err := r.OnIntermediate(h, &r.Reader); err != nil {
			return err
		}
		if h.Length == 0 {
			_ = r.Discard() // there is nothing, which nobody has read
		}
	}
}

// answers are those to control frames: whether one arrives changes nothing of what came.
type answers struct{ net.Conn }

// Write implements io.Writer.
func (a answers) Write(b []byte) (int, error) {
	_, _ = a.Conn.Write(b) // a connection that broke shows in the next read
	return len(b), nil
}
