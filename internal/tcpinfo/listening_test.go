package tcpinfo

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"testing"
)

func listen(t *testing.T, network, address string) netip.AddrPort {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return netip.MustParseAddrPort(l.Addr().String())
}

func listeners(t *testing.T, to netip.AddrPort, want ...string) []Listener {
	t.Helper()
	all, err := Listeners(to)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, l := range all {
		got = append(got, l.At.Addr().String())
		if l.UID != os.Geteuid() || l.Inode == 0 {
			t.Errorf("%+v", l)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("on %s there listen %v, want %v", to, got, want)
	}
	return all
}

func TestListeners(t *testing.T) {
	at := func(ip string, port uint16) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(ip), port) }
	one := listen(t, "tcp4", "127.0.0.1:0")
	listeners(t, one, "127.0.0.1")
	listeners(t, at("::ffff:127.0.0.1", one.Port()), "127.0.0.1")
	listeners(t, at("127.0.0.2", one.Port()))
	every := listen(t, "tcp4", "0.0.0.0:0")
	listeners(t, at("127.0.0.1", every.Port()), "0.0.0.0")
	listeners(t, at("::1", every.Port()))
	listen(t, "tcp4", at("127.0.0.3", 0).String())
	if _, err := net.Listen("tcp6", "[::1]:0"); err != nil {
		t.Skip("no IPv6 here: ", err)
	}
	six := listen(t, "tcp6", "[::1]:0")
	listeners(t, six, "::1")
	both := listen(t, "tcp", "[::]:0")
	listeners(t, at("::1", both.Port()), "::")
	listeners(t, at("127.0.0.1", both.Port()), "::")
}

func TestOwners(t *testing.T) {
	mine := listeners(t, listen(t, "tcp4", "127.0.0.1:0"), "127.0.0.1")
	pids, err := Owners(mine)
	if err != nil || !slices.Equal(pids, []int{os.Getpid()}) || !Holds(os.Getpid(), mine) || Holds(os.Getppid(), mine) {
		t.Errorf("owners %v, %v; want %d", pids, err, os.Getpid())
	}
	// A child that got the socket from its parent shares it.
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	child := exec.Command("cat")
	child.ExtraFiles = []*os.File{f}
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	shared := listeners(t, netip.MustParseAddrPort(l.Addr().String()), "127.0.0.1")
	pids, err = Owners(shared)
	if want := []int{os.Getpid(), child.Process.Pid}; err != nil || len(pids) != 2 || !slices.Contains(pids, want[0]) || !slices.Contains(pids, want[1]) {
		t.Errorf("owners %v, %v; want %v", pids, err, want)
	}
	_ = stdin.Close()
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
}

func TestAddressesOfTheTable(t *testing.T) {
	for _, text := range []string{
		"nonsense", "0100007F", "0100007F:", "0100007F:1FFFF", "01:0050",
	} {
		if got, err := localAddress(text); err == nil {
			t.Errorf("%q is %v, want an error", text, got)
		}
	}
}

// The table that is read where the kernel has no tcp_diag tells the same of a socket.
func TestTheTableTellsWhatTheDumpDoes(t *testing.T) {
	at := listen(t, "tcp4", "127.0.0.1:0")
	dumped := listeners(t, at, "127.0.0.1")
	all, err := inState("tcp", stateListen)
	if read := takers(all, at); err != nil || !slices.Equal(read, dumped) {
		t.Errorf("the table has %+v (%v), the dump %+v", read, err, dumped)
	}
}
