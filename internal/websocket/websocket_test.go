package websocket_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"
	"unicode/utf8"

	"github.com/gobwas/ws"
	"github.com/gobwas/ws/wsutil"

	"netdyno/internal/websocket"
	"netdyno/internal/websocket/websockettest"
)

// recorded is a connection on which some bytes come, and which keeps what is written.
type recorded struct {
	net.Conn
	come  io.Reader
	wrote bytes.Buffer
}

func (r *recorded) Read(b []byte) (int, error)  { return r.come.Read(b) }
func (r *recorded) Write(b []byte) (int, error) { return r.wrote.Write(b) }

// Whatever comes, messages are bounded, text is UTF-8, and what is answered is right.
func FuzzMessages(f *testing.F) {
	for _, wrong := range websockettest.Servers {
		if len(wrong.Then) < 1<<12 {
			f.Add([]byte(wrong.Then))
		}
	}
	for _, then := range websockettest.Right {
		f.Add([]byte(then))
	}
	f.Fuzz(func(t *testing.T, come []byte) {
		const most = 1000
		conn := &recorded{come: bytes.NewReader(come)}
		r := websocket.NewReader(conn, nil, ws.StateClientSide, most)
		var err error
		for err == nil {
			r.Idle()
			if err = r.Next(); err != nil {
				break
			}
			var room bytes.Buffer
			if _, err = r.Message(&room); room.Len() > most {
				t.Fatalf("a message of %d bytes", room.Len())
			}
		}
		if closed := (wsutil.ClosedError{}); errors.As(err, &closed) && !utf8.ValidString(websocket.How(closed)) {
			t.Errorf("it was closed %q", websocket.How(closed))
		}
		for conn.wrote.Len() > 0 {
			h, err := ws.ReadHeader(&conn.wrote)
			if err == nil {
				err = ws.CheckHeader(h, ws.StateServerSide)
			}
			if err != nil || !h.OpCode.IsControl() || len(conn.wrote.Next(int(h.Length))) < int(h.Length) {
				t.Fatalf("it answers by %+v: %v", h, err)
			}
		}
	})
}

// Whatever answers a handshake, none is made with it: its bytes cannot know the key.
func FuzzHandshake(f *testing.F) {
	for _, wrong := range websockettest.Servers {
		if wrong.Handshake != "" && len(wrong.Handshake) < 1<<12 {
			f.Add([]byte(wrong.Handshake))
		}
	}
	u := &url.URL{Scheme: "ws", Host: "localhost", Path: "/"}
	f.Fuzz(func(t *testing.T, come []byte) {
		conn := &recorded{come: bytes.NewReader(come)}
		refused := func(r *http.Response) { _, _ = io.Copy(io.Discard, r.Body) } // it may be cut
		if _, _, err := websocket.Shake(conn, u, nil, "", refused); err == nil {
			t.Error("a handshake was made")
		}
	})
}
