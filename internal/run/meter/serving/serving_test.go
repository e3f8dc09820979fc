package serving

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/tcpinfo"
)

func tcpSocket(local, remote string, inode uint32) tcpinfo.Socket {
	return tcpinfo.Socket{Local: netip.MustParseAddrPort(local), Remote: netip.MustParseAddrPort(remote), Inode: inode}
}

// Of the sockets whose remote address is a connection's local one, the other end is the
// one with its addresses exchanged, else the one that is no other connection's end:
// connections to different places may share a local address.
func TestTheOtherEnd(t *testing.T) {
	const client, server, other, translated = "10.0.0.1:4000", "10.0.0.2:80", "10.0.0.2:90", "10.0.0.2:9090"
	for name, c := range map[string]struct {
		sockets []tcpinfo.Socket
		inode   uint32 // 0 for none
	}{
		"without translation": {[]tcpinfo.Socket{tcpSocket(client, server, 1), tcpSocket(server, client, 2)}, 2},
		"translated":          {[]tcpinfo.Socket{tcpSocket(client, server, 1), tcpSocket(translated, client, 3)}, 3},
		"not here":            {[]tcpinfo.Socket{tcpSocket(client, server, 1)}, 0},
		"beside another connection from there": {[]tcpinfo.Socket{
			tcpSocket(client, server, 1), tcpSocket(client, other, 4), tcpSocket(other, client, 5), tcpSocket(server, client, 2)}, 2},
		"translated, beside another connection from there": {[]tcpinfo.Socket{
			tcpSocket(client, server, 1), tcpSocket(client, other, 4), tcpSocket(translated, client, 3), tcpSocket(other, client, 5)}, 3},
		"not here, beside another connection from there": {[]tcpinfo.Socket{
			tcpSocket(client, server, 1), tcpSocket(client, other, 4), tcpSocket(other, client, 5)}, 0},
	} {
		s := see(c.sockets)
		end := s.peer(&s.sockets[0])
		if c.inode == 0 && end != nil || c.inode != 0 && (end == nil || end.Inode != c.inode) {
			t.Errorf("%s: %+v, want socket %d", name, end, c.inode)
		}
	}
}

// Connections of others to the same address do not tell who serves the clients, and
// those of clients from elsewhere do.
func TestWhoseConnectionsAreFollowed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := netip.MustParseAddrPort(l.Addr().String())
	ours := Finder{At: at, Clients: os.Getpid()}
	if found, err := ours.Look(); err != nil || !slices.Equal(found.PIDs, []int{os.Getpid()}) {
		t.Errorf("our connection: %+v, %v", found, err)
	}
	const nobody = 1 << 30 // no process has this number
	others := Finder{At: at, Clients: nobody}
	if found, err := others.Look(); !errors.Is(err, ErrNobody) {
		t.Errorf("another's connection: %+v, %v", found, err)
	}
	others = Finder{At: at, Clients: nobody, Allow: []netip.Addr{netip.MustParseAddr("192.0.2.1")}}
	if found, err := others.Look(); !errors.Is(err, ErrNobody) {
		t.Errorf("a connection from another address than the clients': %+v, %v", found, err)
	}
	others.sight = see([]tcpinfo.Socket{tcpSocket(at.String(), "192.0.2.1:5", 6)})
	if ends, err := others.serverEnds(); err != nil || len(ends) != 1 || ends[0].Inode != 6 {
		t.Errorf("a connection from elsewhere: %v, %v", ends, err)
	}
}

func TestWhoTakesDatagrams(t *testing.T) {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort(c.LocalAddr().String())
	if found, err := Receiver(at); err != nil || !slices.Equal(found.PIDs, []int{os.Getpid()}) {
		t.Errorf("%+v, %v; want this process", found, err)
	}
	_ = c.Close()
	if _, err := Receiver(at); err == nil || !strings.Contains(err.Error(), "no process takes datagrams") {
		t.Errorf("%v, want that nobody does", err)
	}
	for wire, over := range map[any]bool{"h3": true, "quic": true, "echo": false, nil: false} {
		if got := OverUDP(&contract.Setup{Options: map[string]any{"wire": wire}}); got != over {
			t.Errorf("wire %v is over UDP: %v", wire, got)
		}
	}
}
