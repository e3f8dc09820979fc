package workertest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// H2Peer is a test's end of a connection of HTTP/2, by single frames. It keeps no
// rules: a test may write what no library would.
type H2Peer struct {
	*http2.Framer
	net.Conn
	encoded bytes.Buffer
	encoder *hpack.Encoder
	ended   map[uint32]bool // streams that this end has ended
}

// NewH2Peer returns the end of conn.
func NewH2Peer(conn net.Conn) *H2Peer {
	p := &H2Peer{Framer: http2.NewFramer(conn, conn), Conn: conn, ended: map[uint32]bool{}}
	p.AllowIllegalWrites = true
	p.encoder = hpack.NewEncoder(&p.encoded)
	return p
}

// Ended tells whether this end has ended a stream by data, fields or a reset: a request that
// comes on it was sent before its other end knew.
func (p *H2Peer) Ended(stream uint32) bool { return p.ended[stream] }

// WriteData is the framer's.
func (p *H2Peer) WriteData(stream uint32, end bool, data []byte) error {
	p.ended[stream] = p.ended[stream] || end
	return p.Framer.WriteData(stream, end, data)
}

// WriteRSTStream is the framer's.
func (p *H2Peer) WriteRSTStream(stream uint32, code http2.ErrCode) error {
	p.ended[stream] = true
	return p.Framer.WriteRSTStream(stream, code)
}

// Block returns fields in HPACK. They alternate: a name, its value.
func (p *H2Peer) Block(fields ...string) []byte {
	p.encoded.Reset()
	for i := 0; i+1 < len(fields); i += 2 {
		_ = p.encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}) // a buffer takes all
	}
	return bytes.Clone(p.encoded.Bytes())
}

// Fields writes a HEADERS frame of fields, as Block takes them.
func (p *H2Peer) Fields(stream uint32, end bool, fields ...string) {
	p.ended[stream] = p.ended[stream] || end
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: p.Block(fields...), EndHeaders: true, EndStream: end})
}

// Reply writes a reply of status 200 that announces so many bytes and has others.
func (p *H2Peer) Reply(stream uint32, announced, sent int) {
	p.Fields(stream, false, ":status", "200", "content-length", fmt.Sprint(announced))
	_ = p.WriteData(stream, true, []byte(strings.Repeat("x", sent)))
}

// Request returns the stream of the next request, once it has ended, or false when
// the connection has. It acknowledges settings.
func (p *H2Peer) Request() (stream uint32, more bool) {
	for {
		frame, err := p.ReadFrame()
		if err != nil {
			return 0, false
		}
		switch f := frame.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = p.WriteSettingsAck()
			}
		case *http2.HeadersFrame:
			if f.StreamEnded() {
				return f.StreamID, true
			}
		case *http2.DataFrame:
			if f.StreamEnded() {
				return f.StreamID, true
			}
		}
	}
}

// MisbehavingH2 serves right replies of 100 bytes over HTTP/2 with prior knowledge and
// lets wrong answer the fourth request of a connection; it hangs up when wrong returns
// false, and serves on else. It returns its address and stops with the test.
func MisbehavingH2(t testing.TB, wrong func(p *H2Peer, stream uint32) (more bool)) (address string) {
	t.Helper()
	return Serve(t, func(conn net.Conn) {
		if _, err := io.CopyN(io.Discard, conn, int64(len(http2.ClientPreface))); err != nil {
			return
		}
		p := NewH2Peer(conn)
		_ = p.WriteSettings() // a connection that has ended ends Request, too
		for n := 0; ; n++ {
			stream, more := p.Request()
			if !more {
				return
			}
			if n != 3 {
				p.Reply(stream, 100, 100)
			} else if !wrong(p, stream) {
				return
			}
		}
	})
}
