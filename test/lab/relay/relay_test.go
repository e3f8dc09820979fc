package relay

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/vishvananda/netns"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/stat/distuv"

	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/namespaces"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// timeout is how long a test waits for what must happen.
const timeout = 20 * time.Second

// Before, the link's own; then the delay once for each way; then the link's own again.
func TestRoundTripsTakeTheDelayTwice(t *testing.T) {
	const delay = 5 * time.Millisecond
	a, b := pair(t)
	from, to := socket(t, a), socket(t, b)
	for _, want := range []time.Duration{0, delay, 0} {
		var relays []*Relay
		if want > 0 {
			relays = []*Relay{relayed(t, a, Path{Delay: delay}), relayed(t, b, Path{Delay: delay})}
		}
		trips := roundTrips(t, from, to, 200)
		least, median := trips[0], trips[len(trips)/2]
		t.Logf("delay %v: round trips: least %v, median %v, most %v", want, least, median, trips[len(trips)-1])
		if least < 2*want || want == 0 && least >= delay {
			t.Errorf("a round trip took %v, expected at least 2 × %v", least, want)
		}
		if median > 2*want+20*time.Millisecond {
			t.Errorf("the median round trip took %v, expected little more than 2 × %v", median, want)
		}
		for _, r := range relays {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestLossIsDrawnAndOrderKept(t *testing.T) {
	const sent = 2_000
	a, b := pair(t)
	from, to := socket(t, a), socket(t, b)
	lose := func(share float64) []uint32 {
		r := relayed(t, b, Path{LossShare: share, Seed: 1, Delay: time.Millisecond})
		came := numbered(t, from, to, sent)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		return came
	}
	if came := lose(0); len(came) != sent || !slices.IsSorted(came) {
		t.Errorf("%d of %d packets came, in order: %v", len(came), sent, slices.IsSorted(came))
	}
	if came := lose(1); len(came) != 0 {
		t.Errorf("%d packets came where all are lost", len(came))
	}
	first := lose(0.1)
	lost := distuv.Binomial{N: sent, P: 0.1}
	if n := float64(sent - len(first)); lost.CDF(n) < 5e-7 || 1-lost.CDF(n-1) < 5e-7 {
		t.Errorf("%v of %d packets are lost, expected a tenth", n, sent)
	}
	if again := lose(0.1); !slices.Equal(again, first) {
		t.Error("the same seed loses other packets")
	}
}

// Of a long flow nothing changes, also when its relays end on the way.
func TestBulkIsIntact(t *testing.T) {
	const size = 50_000_000
	a, b := pair(t)
	path := Path{Delay: time.Millisecond, LossShare: 0.001}
	relays := []*Relay{relayed(t, a, path), relayed(t, b, path)}
	var listener net.Listener
	at(t, b, func() (err error) {
		listener, err = net.Listen("tcp4", b.Address+":0")
		return err
	})
	defer listener.Close()
	var from net.Conn
	at(t, a, func() (err error) {
		from, err = net.DialTimeout("tcp4", listener.Addr().String(), timeout)
		return err
	})
	defer from.Close()
	to, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	_ = errors.Join(from.SetDeadline(time.Now().Add(3*timeout)), to.SetDeadline(time.Now().Add(3*timeout)))
	sent, received, failed := sha256.New(), sha256.New(), make(chan error, 1)
	go func() {
		_, err := io.CopyN(io.MultiWriter(from, sent), rand.NewChaCha8([32]byte{1}), size)
		failed <- err
	}()
	if _, err := io.CopyN(received, to, size/2); err != nil {
		t.Fatal(err)
	}
	for _, r := range relays {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err = io.CopyN(received, to, size-size/2)
	if err := errors.Join(err, <-failed); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(sent.Sum(nil), received.Sum(nil)) {
		t.Error("the bytes changed on the way")
	}
}

func TestAHostHasOneRelay(t *testing.T) {
	a, _ := pair(t)
	first := relayed(t, a, Path{})
	if second, err := Start(a, Path{}); err == nil {
		t.Error("a second relay starts", second.Close())
	}
	for range 2 { // closing twice is fine
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	}
	relayed(t, a, Path{})
}

// pair returns the hosts of a rig of two.
func pair(t *testing.T) (a, b rig.Host) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	on, err := namespaces.Build(namespaces.Options{Hosts: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = on.Close() })
	hosts := on.Hosts()
	return hosts[0], hosts[1]
}

// relayed starts a relay on the way into a host, closed with the test.
func relayed(t *testing.T, into rig.Host, path Path) *Relay {
	t.Helper()
	r, err := Start(into, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// at does something on a thread that is at a host, where sockets are born. The thread
// ends with its goroutine if it does not find back.
func at(t *testing.T, host rig.Host, do func() error) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		home, err := netns.Get()
		if err == nil {
			defer home.Close()
			var namespace *os.File
			if namespace, err = open(host); err == nil {
				defer namespace.Close()
				err = netns.Set(netns.NsHandle(namespace.Fd()))
			}
		}
		if err == nil {
			if err = do(); netns.Set(home) == nil {
				runtime.UnlockOSThread()
			}
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// socket returns a UDP socket at a host, with room for thousands of packets, so that only
// the relay loses any.
func socket(t *testing.T, host rig.Host) *net.UDPConn {
	t.Helper()
	var conn *net.UDPConn
	at(t, host, func() (err error) {
		conn, err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.ParseIP(host.Address)})
		return err
	})
	t.Cleanup(func() { _ = conn.Close() })
	raw, err := conn.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var forced error
	err = raw.Control(func(fd uintptr) {
		forced = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20)
	})
	if err := errors.Join(err, forced); err != nil {
		t.Fatal(err)
	}
	return conn
}

// roundTrips sends packets to and fro and returns how long they took, sorted.
func roundTrips(t *testing.T, from, to *net.UDPConn, n int) []time.Duration {
	t.Helper()
	_ = errors.Join(from.SetDeadline(time.Now().Add(timeout)), to.SetDeadline(time.Now().Add(timeout)))
	echoed := make(chan error, 1)
	go func() {
		buffer := make([]byte, 64)
		for range n {
			size, sender, err := to.ReadFromUDPAddrPort(buffer)
			if err == nil {
				_, err = to.WriteToUDPAddrPort(buffer[:size], sender)
			}
			if err != nil {
				echoed <- err
				return
			}
		}
		echoed <- nil
	}()
	var trips []time.Duration
	buffer := make([]byte, 64)
	for range n {
		begun := time.Now()
		if _, err := from.WriteTo([]byte("ping"), to.LocalAddr()); err != nil {
			t.Fatal(err)
		}
		if _, err := from.Read(buffer); err != nil {
			t.Fatal(err)
		}
		trips = append(trips, time.Since(begun))
	}
	if err := <-echoed; err != nil {
		t.Fatal(err)
	}
	slices.Sort(trips)
	return trips
}

// numbered sends n numbered packets and returns the numbers of those that came.
func numbered(t *testing.T, from, to *net.UDPConn, n int) (came []uint32) {
	t.Helper()
	for i := range n {
		if _, err := from.WriteTo(binary.BigEndian.AppendUint32(nil, uint32(i)), to.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	buffer := make([]byte, 64)
	for {
		// The last one has long been due when nothing comes for this long.
		_ = to.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		if _, err := to.Read(buffer); err != nil {
			return came
		}
		came = append(came, binary.BigEndian.Uint32(buffer))
	}
}
