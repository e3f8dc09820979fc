package wire

import (
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// A listener that has no descriptor left for a connection says so at once: the
// client has been accepted by the kernel and would wait.
func TestListenersTellOfTooFewDescriptors(t *testing.T) {
	l, err := Listen(contract.Setup{Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	// Fewer than are open: the next one is refused. Nothing else in this process opens
	// files meanwhile.
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(min(3, len(fds))), Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	_, acceptErr := l.All()[0].Accept()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if acceptErr == nil {
		t.Fatal("a connection was accepted without a descriptor for it")
	}
	if err := <-l.Exited(); load.KindOf(err) != contract.SetupFailed || !strings.Contains(err.Error(), "accept connection 1: ") || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("the listeners say %v (%s), want what is missing, of kind setup", err, load.KindOf(err))
	}
}

func TestSilenceSaysHowFarItCame(t *testing.T) {
	route := Route{Peer: Peer{AddrPort: netip.MustParseAddrPort("10.0.0.1:80")}}
	for _, c := range []struct {
		came, want int64
		text       string
	}{
		{0, 100, "verify connection 1 of 2: the server at 10.0.0.1:80 accepted the connection and said nothing for 10s"},
		{7, 100, "verify connection 1 of 2: the server at 10.0.0.1:80 sent 7 of 100 bytes and said nothing more for 10s"},
		{0, 0, "verify connection 1 of 2: the server at 10.0.0.1:80 accepted the connection, sent no whole reply and said nothing more for 10s"},
	} {
		err := SilenceFailure(0, []Route{route, route}, c.came, c.want, 10*time.Second)
		if err.Error() != "timeout: "+c.text || load.KindOf(err) != contract.Timeout {
			t.Errorf("silence after %d of %d bytes: %v (%s), want %q", c.came, c.want, err, load.KindOf(err), c.text)
		}
	}
}
