package tcpinfo

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// connect returns both ends of a connection over loopback.
func connect(t testing.TB, network string) (client, server *net.TCPConn) {
	t.Helper()
	listener, err := net.Listen(network, map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0", "tcp": "[::]:0"}[network])
	if noIPv6 := errors.Is(err, unix.EAFNOSUPPORT) || errors.Is(err, unix.EADDRNOTAVAIL); noIPv6 && network != "tcp4" {
		t.Skipf("this host has no IPv6: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return dial(t, listener)
}

func dial(t testing.TB, listener net.Listener) (client, server *net.TCPConn) {
	t.Helper()
	at := listener.Addr().(*net.TCPAddr)
	if at.IP.IsUnspecified() {
		at = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: at.Port}
	}
	client, err := net.DialTCP("tcp", nil, at)
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	server = accepted.(*net.TCPConn)
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

func portOf(a net.Addr) uint16 { return uint16(a.(*net.TCPAddr).Port) }

// inodeOf asks the process itself which socket it holds.
func inodeOf(t *testing.T, c *net.TCPConn) uint32 {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var link string
	if err := raw.Control(func(fd uintptr) { link, err = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)) }); err != nil {
		t.Fatal(err)
	}
	var inode uint32
	if _, scanErr := fmt.Sscanf(link, "socket:[%d]", &inode); err != nil || scanErr != nil {
		t.Fatalf("link %q: %v, %v", link, err, scanErr)
	}
	return inode
}

// checkHeld finds sockets of this process among those that it holds, and not
// among those of init.
func checkHeld(t *testing.T, inodes ...uint32) {
	t.Helper()
	own, others := map[uint32]bool{}, map[uint32]bool{}
	Held(os.Getpid(), own)
	Held(1, others)
	for _, inode := range inodes {
		if !own[inode] || others[inode] {
			t.Errorf("socket %d: held by this process %t, by init %t; want by this one alone", inode, own[inode], others[inode])
		}
	}
}

// pass sends n bytes and waits until they were read and acknowledged.
func pass(t *testing.T, from, to *net.TCPConn, n int64) {
	t.Helper()
	go func() { _, _ = io.CopyN(from, zeros{}, n) }() // the other end tells what came
	if _, err := io.CopyN(io.Discard, to, n); err != nil {
		t.Fatal(err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestBothEndsOfAConnectionAreFound(t *testing.T) {
	for _, network := range []string{"tcp4", "tcp6", "tcp"} { // the last: an IPv6 socket that took an IPv4 connection
		t.Run(network, func(t *testing.T) {
			client, server := connect(t, network)
			const sent = 3_000_000
			pass(t, client, server, sent)
			var atClient, atServer Socket
			for deadline := time.Now().Add(5 * time.Second); atClient.AckedBytes < sent && time.Now().Before(deadline); {
				ports := []uint16{portOf(server.LocalAddr())}
				sockets, err := Query{LocalPorts: ports, RemotePorts: ports}.Dump()
				if err != nil || len(sockets) != 2 {
					t.Fatalf("%d sockets, error %v; want both ends", len(sockets), err)
				}
				atClient, atServer = sockets[0], sockets[1]
				if atServer.Local.Port() != portOf(server.LocalAddr()) {
					atClient, atServer = atServer, atClient
				}
			}
			local := netip.MustParseAddrPort(client.LocalAddr().String())
			remote := netip.MustParseAddrPort(client.RemoteAddr().String())
			if atClient.Local != local || atClient.Remote != remote || atServer.Local != remote || atServer.Remote != local {
				t.Errorf("client %v → %v, server %v → %v; want %v → %v", atClient.Local, atClient.Remote, atServer.Local, atServer.Remote, local, remote)
			}
			if got, want := atClient.Inode, inodeOf(t, client); got != want {
				t.Errorf("client's inode %d, want %d", got, want)
			}
			if got, want := atServer.Inode, inodeOf(t, server); got != want {
				t.Errorf("server's inode %d, want %d", got, want)
			}
			checkHeld(t, atClient.Inode, atServer.Inode)
			checkAccount(t, atClient.Info, atServer.Info, sent)
		})
	}
}

func checkAccount(t *testing.T, sender, receiver Info, sent int64) {
	t.Helper()
	if sender.AckedBytes < sent || sender.AckedBytes > sent+1 || receiver.ReceivedBytes != sent { // SYN may count as one
		t.Errorf("acked %d, received %d; want %d", sender.AckedBytes, receiver.ReceivedBytes, sent)
	}
	if sender.ReceivedBytes != 0 || receiver.SentSegments != 0 {
		t.Errorf("the other direction carried %d bytes and %d segments, want none", sender.ReceivedBytes, receiver.SentSegments)
	}
	if known, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control"); err == nil && sender.Congestion != strings.TrimSpace(string(known)) {
		t.Errorf("congestion control %q, want %q", sender.Congestion, known)
	}
	if sender.Busy > time.Minute { // whole ticks of the kernel, so perhaps 0
		t.Errorf("busy for %s", sender.Busy)
	}
	if least := sent / sender.SegmentBytes; sender.SentSegments < least || sender.SegmentBytes < 500 {
		t.Errorf("%d segments of at most %d bytes for %d bytes", sender.SentSegments, sender.SegmentBytes, sent)
	}
	if sender.RTT <= 0 || sender.MinRTT <= 0 || sender.MinRTT > sender.RTT+time.Millisecond || sender.CongestionWindow <= 0 || sender.DeliveryBytesPerS <= 0 {
		t.Errorf("rtt %s (least %s), window of %d segments, %d B/s", sender.RTT, sender.MinRTT, sender.CongestionWindow, sender.DeliveryBytesPerS)
	}
}

// A reader that does not read makes the sender wait for its window, and then
// for its own buffer.
func TestQueuesAndLimitsShowASlowReader(t *testing.T) {
	client, server := connect(t, "tcp4")
	if err := server.SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 64<<10)
	for range 200 { // until both buffers are full
		if err := client.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Write(block); err != nil {
			break
		}
	}
	ports := []uint16{portOf(server.LocalAddr())}
	before := one(t, Query{RemotePorts: ports})
	time.Sleep(100 * time.Millisecond)
	after := one(t, Query{RemotePorts: ports})
	if after.SendQueue == 0 || after.ReceiveQueue != 0 {
		t.Errorf("sender's queues: %d to send, %d to read", after.SendQueue, after.ReceiveQueue)
	}
	if at := one(t, Query{LocalPorts: ports}); at.ReceiveQueue == 0 || at.SendQueue != 0 {
		t.Errorf("receiver's queues: %d to read, %d to send", at.ReceiveQueue, at.SendQueue)
	}
	busy, held := after.Busy-before.Busy, after.ReceiveWindowLimited-before.ReceiveWindowLimited
	if busy < 50*time.Millisecond || held < busy*9/10 || held > busy {
		t.Errorf("of %s busy it waited %s for the peer's window, want nearly all", busy, held)
	}
}

func one(t *testing.T, q Query) Socket {
	t.Helper()
	sockets, err := q.Dump()
	if err != nil || len(sockets) != 1 {
		t.Fatalf("%+v: %d sockets, error %v; want one", q, len(sockets), err)
	}
	return sockets[0]
}

func TestKernelSelectsByPort(t *testing.T) {
	var listeners []uint16
	var clients []uint16
	for range 5 {
		client, server := connect(t, "tcp4")
		listeners = append(listeners, portOf(server.LocalAddr()))
		clients = append(clients, portOf(client.LocalAddr()))
	}
	for _, c := range []struct {
		name string
		q    Query
		want []uint16 // local ports
	}{
		{"one local", Query{LocalPorts: listeners[:1]}, listeners[:1]},
		{"one remote", Query{RemotePorts: listeners[1:2]}, clients[1:2]},
		{"three local", Query{LocalPorts: listeners[1:4]}, listeners[1:4]},
		{"four remote", Query{RemotePorts: listeners[1:]}, clients[1:]},
		{"local or remote", Query{LocalPorts: listeners[:2], RemotePorts: listeners[2:4]}, append(append([]uint16(nil), listeners[:2]...), clients[2:4]...)},
		{"none has it", Query{LocalPorts: []uint16{1}}, nil},
	} {
		sockets, err := c.q.Dump()
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := map[uint16]bool{}
		for _, s := range sockets {
			got[s.Local.Port()] = true
		}
		for _, port := range c.want {
			if !got[port] {
				t.Errorf("%s: port %d is missing in %v", c.name, port, got)
			}
		}
		if len(sockets) != len(c.want) {
			t.Errorf("%s: %d sockets, want %d", c.name, len(sockets), len(c.want))
		}
	}
}

func TestMostPortsAreTaken(t *testing.T) {
	_, server := connect(t, "tcp4")
	ports := make([]uint16, MaxPorts)
	for i := range ports {
		ports[i] = 1
	}
	ports[MaxPorts-1] = portOf(server.LocalAddr())
	one(t, Query{LocalPorts: ports})
	if _, err := (Query{LocalPorts: ports, RemotePorts: ports[:1]}).Dump(); err == nil || !strings.Contains(err.Error(), "at most 256") {
		t.Errorf("257 ports: error %v", err)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for range 3 {
		dial(t, listener)
	}
	ports := []uint16{portOf(listener.Addr())}
	if sockets, err := (Query{LocalPorts: ports, Max: 3}).Dump(); err != nil || len(sockets) != 3 {
		t.Errorf("3 of at most 3: %d sockets, error %v", len(sockets), err)
	}
	if sockets, err := (Query{LocalPorts: ports, Max: 2}).Dump(); !errors.Is(err, ErrMany) || len(sockets) != 2 {
		t.Errorf("3 of at most 2: %d sockets, error %v", len(sockets), err)
	}
}

// A query without ports at this end keeps the other ends of their connections.
func TestConnectionsAreLeftOut(t *testing.T) {
	_, one := connect(t, "tcp4")
	_, two := connect(t, "tcp4")
	_, three := connect(t, "tcp4")
	ports := []uint16{portOf(one.LocalAddr()), portOf(two.LocalAddr())}
	sockets, err := Query{Without: ports, Bare: true}.Dump()
	if err != nil {
		t.Fatal(err)
	}
	found := map[uint16]int{}
	for _, s := range sockets {
		found[s.Local.Port()]++
		found[s.Remote.Port()]++
		if s.UID != os.Geteuid() && s.Remote.Port() == ports[0] || s.SentSegments != 0 || s.Congestion != "" {
			t.Errorf("%+v", s)
		}
	}
	if found[ports[0]] != 1 || found[ports[1]] != 1 || found[portOf(three.LocalAddr())] != 2 {
		t.Errorf("found %v, want one end of %v and both ends of %d", found, ports, portOf(three.LocalAddr()))
	}
}
