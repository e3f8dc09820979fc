package relay

import (
	"net"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// end is one end of the tests' link: a namespace without a name, which vanishes
// with its last descriptor, and the addresses of its eth0.
type end struct {
	namespace int
	v4, v6    string
}

// joined returns two namespaces that a veth pair joins, eth0 on both sides.
func joined(t testing.TB) (a, b end) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("network namespaces need root")
	}
	a = end{namespace: newNamespace(t), v4: "10.9.0.1", v6: "fd09::1"}
	b = end{namespace: newNamespace(t), v4: "10.9.0.2", v6: "fd09::2"}
	pair := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: "eth0", Namespace: netlink.NsFd(a.namespace)},
		PeerName:  "eth0", PeerNamespace: netlink.NsFd(b.namespace),
	}
	inside(t, a, func(h *netlink.Handle) error { return h.LinkAdd(pair) })
	for _, e := range []end{a, b} {
		inside(t, e, func(h *netlink.Handle) error {
			link, err := h.LinkByName("eth0")
			if err != nil {
				return err
			}
			for _, address := range []string{e.v4 + "/24", e.v6 + "/64"} {
				parsed, err := netlink.ParseAddr(address)
				if err != nil {
					return err
				}
				parsed.Flags = unix.IFA_F_NODAD // usable at once
				if err := h.AddrAdd(link, parsed); err != nil {
					return err
				}
			}
			return h.LinkSetUp(link)
		})
	}
	return a, b
}

// newNamespace makes a namespace on a thread that ends with it.
func newNamespace(t testing.TB) int {
	t.Helper()
	type made struct {
		fd  int
		err error
	}
	done := make(chan made)
	go func() {
		runtime.LockOSThread()
		err := unix.Unshare(unix.CLONE_NEWNET)
		fd := -1
		if err == nil {
			fd, err = unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		}
		done <- made{fd, err}
	}()
	m := <-done
	if m.err != nil {
		t.Skipf("the kernel refuses network namespaces: %v", m.err)
	}
	t.Cleanup(func() { unix.Close(m.fd) })
	return m.fd
}

// inside configures the links of a namespace.
func inside(t testing.TB, e end, do func(*netlink.Handle) error) {
	t.Helper()
	h, err := netlink.NewHandleAt(netns.NsHandle(e.namespace), unix.NETLINK_ROUTE)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if err := do(h); err != nil {
		t.Fatal(err)
	}
}

// relayed starts a relay on the way into a namespace, closed with the test.
func relayed(t testing.TB, into end, path Path) *Relay {
	t.Helper()
	r, err := Start(into.namespace, "eth0", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// packets returns a UDP socket bound in a namespace, with room for thousands of
// packets, so that none is lost but by the relay.
func packets(t testing.TB, at end, address string) *net.UDPConn {
	t.Helper()
	var conn *net.UDPConn
	err := within(at.namespace, func() (err error) {
		conn, err = net.ListenUDP("udp", &net.UDPAddr{IP: net.ParseIP(address)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var forced error
	err = raw.Control(func(fd uintptr) {
		forced = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20)
	})
	if err != nil || forced != nil {
		t.Fatal(err, forced)
	}
	return conn
}

// stream returns both ends of a TCP connection over IPv4 from a to b.
func stream(t testing.TB, a, b end) (from, to net.Conn) {
	t.Helper()
	var listener net.Listener
	err := within(b.namespace, func() (err error) {
		listener, err = net.Listen("tcp", net.JoinHostPort(b.v4, "0"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	err = within(a.namespace, func() (err error) {
		from, err = net.Dial("tcp", listener.Addr().String())
		return err
	})
	if err == nil {
		to, err = listener.Accept()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { from.Close(); to.Close() })
	return from, to
}

// descriptors counts what this process has open, to find what is left over.
func descriptors(t *testing.T) int {
	t.Helper()
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}
