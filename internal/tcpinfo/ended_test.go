package tcpinfo

import (
	"io"
	"net"
	"testing"
	"time"
)

// What a connection carried is known when it has ended, to the byte.
func TestEndings(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	e, err := WatchEndings()
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	near, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	const up, down = 12_345, 67
	if _, err := near.Write(make([]byte, up)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(far, make([]byte, up)); err != nil {
		t.Fatal(err)
	}
	if _, err := far.Write(make([]byte, down)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(near, make([]byte, down)); err != nil {
		t.Fatal(err)
	}
	local := near.LocalAddr().(*net.TCPAddr).AddrPort()
	near.Close()
	far.Close()
	var got *Socket
	for deadline := time.Now().Add(10 * time.Second); got == nil && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		err := e.Take(func(s Socket) {
			if s.Local == local {
				got = &s
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got == nil {
		t.Fatal("the kernel does not tell that the connection has ended")
	}
	// The packets that open and close a connection count as one byte each.
	if got.ReceivedBytes < down || got.ReceivedBytes > down+1 || got.AckedBytes < up || got.AckedBytes > up+2 || got.Remote.Port() != uint16(l.Addr().(*net.TCPAddr).Port) {
		t.Errorf("%+v ended, want %d bytes sent and %d received", got, up, down)
	}
}
