package wire

import (
	"context"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
)

// accepting takes in connections until the listeners close.
func accepting(l *Listeners) {
	for _, one := range l.All() {
		go func() {
			for {
				if _, err := one.Accept(); err != nil {
					return
				}
			}
		}()
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after 10 s: %s", what)
		}
	}
}

func TestListenersCountAndEndTheirConnections(t *testing.T) {
	l, err := Listen(contract.Setup{Listen: "127.0.0.1:0", Listeners: 2})
	if err != nil {
		t.Fatal(err)
	}
	accepting(l)
	var conns []net.Conn
	for _, address := range l.Addresses() {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
	}
	eventually(t, "two connections are open", func() bool { return l.Open() == 2 })
	l.Close()
	if l.Open() != 0 {
		t.Errorf("%d connections open after close", l.Open())
	}
	for _, conn := range conns {
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Error("a connection lives on after close")
		}
	}
}

func TestStrangersAreTurnedAway(t *testing.T) {
	l, err := Listen(contract.Setup{Listen: "127.0.0.1:0", Allow: []string{"127.0.0.2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepting(l)
	conn, err := net.Dial("tcp", l.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("%v, want the end", err)
	}
	if l.Open() != 0 {
		t.Errorf("%d connections counted, a stranger among them", l.Open())
	}
	if got := l.Strangers(); got == nil || *got != (contract.Strangers{Connections: 1, First: "127.0.0.1"}) {
		t.Errorf("refused: %+v, want one from 127.0.0.1", got)
	}
}

// Ports after a given one follow it (CONTRACT.md, section setup).
func TestPortsFollowTheGivenOne(t *testing.T) {
	var failed error
	for range 20 { // until two neighbours are free
		probe, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		first := probe.Addr().(*net.TCPAddr).Port
		probe.Close()
		l, err := Listen(contract.Setup{Listen: "127.0.0.1:" + strconv.Itoa(first), Listeners: 2})
		if err != nil {
			failed = err
			continue
		}
		defer l.Close()
		if _, port, _ := net.SplitHostPort(l.Addresses()[1]); port != strconv.Itoa(first+1) {
			t.Errorf("the port after %d is %s", first, port)
		}
		return
	}
	t.Fatalf("no two ports in a row in 20 attempts: %v", failed)
}

func TestListenRefusesInWords(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for listen, want := range map[string]string{
		"127.0.0.1": "setup.listen", "127.0.0.1:70000": "expected 0 to 65535", busy.Addr().String(): "in use",
	} {
		if _, err := Listen(contract.Setup{Listen: listen}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", listen, err, want)
		}
	}
}

// A pool that drops a connection while it stands may dial it again; of one that broke it
// may not.
func TestAPoolDialsAgainWhatItDropped(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	peer := l.Addr().String()
	d, err := NewDialer(contract.Setup{Peers: []string{peer}, Load: contract.Load{Connections: 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	open := func() net.Conn {
		t.Helper()
		c, err := d.Any(t.Context(), peer)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	open()
	dropped := open()
	time.AfterFunc(10*time.Millisecond, func() { _, _ = dropped.Close(), dropped.Close() }) // as net/http does, after it dials
	again := open()
	if err := d.OneEach(); err != nil || d.Reconnects() != 1 {
		t.Errorf("%d connections were made again, %v; want 1", d.Reconnects(), err)
	}
	_ = again.SetReadDeadline(time.Now())
	if _, err := again.Read(make([]byte, 1)); err == nil {
		t.Fatal("something came")
	}
	_ = again.Close()
	if _, err := d.Any(t.Context(), peer); !errors.Is(err, ErrLost) {
		t.Errorf("in the place of a connection that broke: %v, want that it is lost", err)
	}
}

func TestARouteIsDialledOnce(t *testing.T) {
	l, err := Listen(contract.Setup{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepting(l)
	peer := l.Addresses()[0]
	for _, fresh := range []bool{false, true} {
		d, err := NewDialer(contract.Setup{Peers: []string{peer}, Load: contract.Load{Connections: 3, Fresh: fresh}})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := d.Any(context.Background(), peer); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.Any(context.Background(), peer); errors.Is(err, ErrLost) == fresh {
			t.Errorf("fresh %v: the fourth of three connections: %v", fresh, err)
		}
		if _, err := d.Dial(context.Background(), 1); errors.Is(err, ErrLost) == fresh {
			t.Errorf("fresh %v: a second dial: %v", fresh, err)
		}
		d.Close()
		if d.connections.Open() != 0 {
			t.Errorf("%d connections open after close", d.connections.Open())
		}
	}
}
