package wire

import (
	"net"
	"syscall"
	"testing"
)

func TestConnectionsHavePortsApart(t *testing.T) {
	t.Parallel()
	p := portsIn("32768\t60999\n", 4711)
	for i := range 60_000 {
		low, high, ok := p.portsOf(i)
		if !ok || low < 32768 || high > 60999 || high-low+1 != portWindow {
			t.Fatalf("connection %d may have %d to %d (%v), outside the range", i, low, high, ok)
		}
		next, _, _ := p.portsOf(i + 1)
		if next != low+1 && next != 32768 {
			t.Fatalf("connection %d begins at %d, the next one at %d", i, low, next)
		}
	}
	for _, text := range []string{"", "x y", "1", "60000 50000", "1000 1010", "1 99999"} {
		if _, _, ok := portsIn(text, 1).portsOf(0); ok {
			t.Errorf("range %q narrows ports", text)
		}
	}
	if _, _, ok := newPorts(100).portsOf(0); ok {
		t.Error("few connections need no narrowing")
	}
}

// The kernel takes the option: a connection has a port of those that it may have.
func TestThePortIsOneOfThoseNamed(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	p := newPorts(manyConnections)
	low, high, ok := p.portsOf(7)
	if !ok {
		t.Skip("this host has no range of local ports to read")
	}
	narrowed := true
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		err := p.narrow(raw, 7)
		narrowed = narrowed && err == nil
		return err
	}}
	conn, err := dialer.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if port := conn.LocalAddr().(*net.TCPAddr).Port; narrowed && (port < low || port > high) {
		t.Errorf("port %d, want one from %d to %d", port, low, high)
	}
}
