package gowebsocket

import (
	"bytes"
	"net"
	"testing"

	"github.com/gobwas/ws"

	"netdyno/internal/contract"
	"netdyno/internal/websocket/websockettest"
	"netdyno/internal/work/load"
)

type recorded struct {
	net.Conn
	come *bytes.Reader
}

func (r recorded) Read(b []byte) (int, error)  { return r.come.Read(b) }
func (r recorded) Write(b []byte) (int, error) { return len(b), nil }

// Whatever comes, the error is the server's.
func FuzzReplies(f *testing.F) {
	for _, wrong := range websockettest.Servers {
		if len(wrong.Then) < 1<<12 {
			f.Add([]byte(wrong.Then))
		}
	}
	f.Fuzz(func(t *testing.T, come []byte) {
		e := newEnd(recorded{come: bytes.NewReader(come)}, ws.StateClientSide, nil, 1000)
		var room bytes.Buffer
		err := e.next()
		for err == nil {
			room.Reset()
			if _, err = e.receive(&room); err == nil {
				err = e.next()
			}
		}
		if kind := load.KindOf(err); kind != contract.Invalid && kind != contract.Peer {
			t.Errorf("%s: %v", kind, err)
		}
	})
}
