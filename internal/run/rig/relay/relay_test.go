package relay

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"go.uber.org/goleak"
	"gonum.org/v1/gonum/stat/distuv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// timeout is how long a test waits for what must happen.
const timeout = 20 * time.Second

func TestRoundTripsTakeTheDelayTwice(t *testing.T) {
	a, b := joined(t)
	for _, delay := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond} {
		for _, family := range []string{"IPv4", "IPv6"} {
			t.Run(fmt.Sprintf("%v over %s", delay, family), func(t *testing.T) {
				toA, toB := a.v4, b.v4
				if family == "IPv6" {
					toA, toB = a.v6, b.v6
				}
				relays := []*Relay{relayed(t, a, Path{Delay: delay}), relayed(t, b, Path{Delay: delay})}
				trips := roundTrips(t, packets(t, a, toA), packets(t, b, toB), 200)
				t.Logf("round trips: least %v, median %v, most %v", trips[0], trips[len(trips)/2], trips[len(trips)-1])
				if trips[0] < 2*delay {
					t.Errorf("a round trip took %v, expected 2 × %v at least", trips[0], delay)
				}
				if median := trips[len(trips)/2]; median > 2*delay+20*time.Millisecond {
					t.Errorf("the median round trip took %v, expected little more than 2 × %v", median, delay)
				}
				for _, r := range relays {
					account := r.Account()
					p50, _ := account.Lateness.Percentile(0.5)
					p90, _ := account.Lateness.Percentile(0.9)
					t.Logf("lateness: median %v, p90 %v, most %v", time.Duration(p50), time.Duration(p90), time.Duration(account.Lateness.MaxNs()))
					if account.Packets < 200 || account.Dropped != 0 || account.Overflowed != 0 {
						t.Errorf("account %+v, expected the round trips and no loss", account)
					}
					if err := r.Close(); err != nil {
						t.Error(err)
					}
					if n := r.Account().Lateness.Count(); n != account.Packets {
						t.Errorf("%d values of lateness, expected one per packet of %d", n, account.Packets)
					}
				}
			})
		}
	}
}

// roundTrips sends packets to and fro and returns how long they took, sorted.
func roundTrips(t *testing.T, from, to *net.UDPConn, n int) []time.Duration {
	t.Helper()
	deadline := time.Now().Add(timeout)
	from.SetDeadline(deadline)
	to.SetDeadline(deadline)
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

// send sends n numbered packets.
func send(t *testing.T, from, to *net.UDPConn, n int) {
	t.Helper()
	for i := range n {
		if _, err := from.WriteTo(binary.BigEndian.AppendUint32(nil, uint32(i)), to.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
}

// numbered sends n numbered packets and returns the numbers of those that came.
func numbered(t *testing.T, from, to *net.UDPConn, n int) []uint32 {
	t.Helper()
	send(t, from, to, n)
	var came []uint32
	buffer := make([]byte, 64)
	for {
		// The last one has long been due when nothing comes for this long.
		to.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		if _, err := to.Read(buffer); err != nil {
			return came
		}
		came = append(came, binary.BigEndian.Uint32(buffer))
	}
}

func TestOrderIsKept(t *testing.T) {
	a, b := joined(t)
	r := relayed(t, b, Path{Delay: time.Millisecond})
	came := numbered(t, packets(t, a, a.v4), packets(t, b, b.v4), 5_000)
	if len(came) != 5_000 || !slices.IsSorted(came) {
		t.Errorf("%d of 5,000 packets came, in order: %v", len(came), slices.IsSorted(came))
	}
	if got := r.Account().Packets; got != 5_000 {
		t.Errorf("%d packets in the account, expected 5,000", got)
	}
}

func TestLoss(t *testing.T) {
	const sent = 2_000
	a, b := joined(t)
	from, to := packets(t, a, a.v4), packets(t, b, b.v4)
	lose := func(share float64, seed uint64) []uint32 {
		r := relayed(t, b, Path{LossShare: share, Seed: seed, Delay: time.Millisecond})
		came := numbered(t, from, to, sent)
		account := r.Account()
		if account.Packets != sent || account.Dropped != int64(sent-len(came)) || account.Overflowed != 0 {
			t.Errorf("%d of %d packets came; account %+v", len(came), sent, account)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		return came
	}
	if came := lose(1, 1); len(came) != 0 {
		t.Errorf("%d packets came where all are lost", len(came))
	}
	first := lose(0.1, 1)
	lost := distuv.Binomial{N: sent, P: 0.1}
	if n := float64(sent - len(first)); lost.CDF(n) < 5e-7 || 1-lost.CDF(n-1) < 5e-7 {
		t.Errorf("%v of %d packets are lost, expected a tenth", n, sent)
	}
	if again := lose(0.1, 1); !slices.Equal(again, first) {
		t.Error("the same seed loses other packets")
	}
	if other := lose(0.1, 2); slices.Equal(other, first) {
		t.Error("another seed loses the same packets")
	}
}

func TestWhatIsTooMuchIsLostAndCounted(t *testing.T) {
	const sent, held = 2_000, 64
	a, b := joined(t)
	from, to := packets(t, a, a.v4), packets(t, b, b.v4)
	r, err := start(b.namespace, "eth0", Path{Delay: 100 * time.Millisecond}, bounds{held: held, unread: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	// What a relay may hold, no faster than it reads, and then far more.
	for i := range held {
		send(t, from, to, 1)
		for deadline := time.Now().Add(timeout); r.Account().Packets <= int64(i) && time.Now().Before(deadline); {
			time.Sleep(100 * time.Microsecond)
		}
	}
	came := numbered(t, from, to, sent-held)
	came = append(came, numbered(t, from, to, 1)...) // what is lost is noticed when the next one comes
	account := r.Account()
	if account.Packets != sent+1 || account.Overflowed != int64(sent+1-len(came)) || account.Dropped != 0 {
		t.Errorf("%d of %d packets came; account %+v", len(came), sent+1, account)
	}
	if len(came) < held || len(came) > sent/2 {
		t.Errorf("%d packets came through a relay that holds %d, and unread some 30", len(came), held)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// bulk sends bytes over TCP and checks that they are the same at the other end.
func bulk(t testing.TB, from, to net.Conn, size int64) {
	t.Helper()
	deadline := time.Now().Add(3 * timeout)
	from.SetDeadline(deadline)
	to.SetDeadline(deadline)
	sums := make(chan [sha256.Size]byte, 1)
	failed := make(chan error, 1)
	go func() {
		sum := sha256.New()
		noise := rand.NewChaCha8([32]byte{1})
		_, err := io.CopyN(io.MultiWriter(from, sum), noise, size)
		failed <- err
		sums <- [sha256.Size]byte(sum.Sum(nil))
	}()
	sum := sha256.New()
	_, err := io.CopyN(sum, to, size)
	if err := errors.Join(err, <-failed); err != nil {
		t.Fatal(err)
	}
	if want := <-sums; want != [sha256.Size]byte(sum.Sum(nil)) {
		t.Error("the bytes changed on the way")
	}
}

func TestBulkIsIntactAndLargePacketsCountOnce(t *testing.T) {
	const size, segment = 50_000_000, 1448
	a, b := joined(t)
	relayed(t, a, Path{Delay: time.Millisecond})
	r := relayed(t, b, Path{Delay: time.Millisecond})
	from, to := stream(t, a, b)
	bulk(t, from, to, size)
	account := r.Account()
	t.Logf("%d packets; the latest was %v late", account.Packets, time.Duration(account.Lateness.MaxNs()))
	if account.Packets == 0 || account.Packets > size/segment/2 {
		t.Errorf("%d packets, expected far fewer than %d segments", account.Packets, size/segment)
	}
}

func TestCloseUnderTrafficLetsItGoOn(t *testing.T) {
	a, b := joined(t)
	open := descriptors(t)
	into := []*Relay{
		relayed(t, a, Path{Delay: 2 * time.Millisecond, LossShare: 0.001}),
		relayed(t, b, Path{Delay: 2 * time.Millisecond, LossShare: 0.001}),
	}
	from, to := stream(t, a, b)
	done := make(chan struct{})
	go func() {
		defer close(done)
		bulk(t, from, to, 100_000_000)
	}()
	for into[1].Account().Packets < 100 {
		time.Sleep(time.Millisecond)
	}
	for _, r := range into {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if err := r.Close(); err != nil {
			t.Errorf("close again: %v", err)
		}
	}
	<-done
	for _, e := range []end{a, b} {
		if left := tables(t, e); len(left) != 0 {
			t.Errorf("tables %q are left", left)
		}
	}
	from.Close()
	to.Close()
	if left := descriptors(t); left != open {
		t.Errorf("%d descriptors are open, %d were before", left, open)
	}
}

// Close hands over what is held at once, whatever its time, read or not.
func TestCloseReleasesWhatIsHeld(t *testing.T) {
	const sent = 100
	a, b := joined(t)
	from, to := packets(t, a, a.v4), packets(t, b, b.v4)
	for _, room := range []int{64, 128} {
		r, err := start(b.namespace, "eth0", Path{Delay: MaxDelay}, bounds{held: room, unread: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		if came := numbered(t, from, to, sent); len(came) != 0 {
			t.Errorf("%d packets came before their time", len(came))
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if came := numbered(t, from, to, sent); len(came) != 2*sent {
			t.Errorf("with room for %d: %d packets came, expected the %d that were held and as many after them", room, len(came), sent)
		}
	}
}

func tables(t *testing.T, e end) []string {
	t.Helper()
	conn, err := nftables.New(nftables.WithNetNSFd(e.namespace))
	if err != nil {
		t.Fatal(err)
	}
	found, err := conn.ListTables()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, table := range found {
		names = append(names, table.Name)
	}
	return names
}

func TestARemovedInterfaceEndsTheRelay(t *testing.T) {
	a, b := joined(t)
	r := relayed(t, b, Path{Delay: time.Millisecond})
	if err := r.Err(); err != nil {
		t.Errorf("an error before anything went wrong: %v", err)
	}
	inside(t, a, func(h *netlink.Handle) error { // the one takes the other with it
		link, err := h.LinkByName("eth0")
		if err != nil {
			return err
		}
		return h.LinkDel(link)
	})
	select {
	case <-r.ended:
	case <-time.After(timeout):
		t.Fatal("the relay goes on without its interface")
	}
	name := "eth0 in " + nameOf(b.namespace)
	for _, err := range []error{r.Err(), r.Close(), r.Close()} {
		if !errors.Is(err, errGone) || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, expected one that names %s", err, name)
		}
	}
	if left := tables(t, b); len(left) != 0 {
		t.Errorf("tables %q are left", left)
	}
}

// Taking a link down loses what it holds; taking it up again lets packets through.
func TestALinkThatIsCutComesBack(t *testing.T) {
	a, b := joined(t)
	from, to := packets(t, a, a.v4), packets(t, b, b.v4)
	r := relayed(t, b, Path{Delay: 50 * time.Millisecond})
	for range 10 {
		if _, err := from.WriteTo([]byte("lost"), to.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	for _, set := range []func(*netlink.Handle, netlink.Link) error{(*netlink.Handle).LinkSetDown, (*netlink.Handle).LinkSetUp} {
		inside(t, b, func(h *netlink.Handle) error {
			link, err := h.LinkByName("eth0")
			if err != nil {
				return err
			}
			return set(h, link)
		})
	}
	deadline := time.Now().Add(timeout)
	for len(numbered(t, from, to, 1)) == 0 {
		if time.Now().After(deadline) {
			t.Fatalf("nothing comes through a link that is up again; %v", r.Err())
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestStartRefuses(t *testing.T) {
	a, b := joined(t)
	relayed(t, b, Path{})
	open := descriptors(t)
	for _, c := range []struct {
		namespace int
		in        string
		path      Path
		want      string
	}{
		{a.namespace, "eth1", Path{}, "among lo, eth0"},
		{a.namespace, "eth0", Path{Delay: -1}, "delay of -1ns: expected 0s to 10s"},
		{a.namespace, "eth0", Path{Delay: MaxDelay + 1}, "expected 0s to 10s"},
		{a.namespace, "eth0", Path{LossShare: 1.1}, "loss share of 1.1: expected 0 to 1"},
		{b.namespace, "eth0", Path{}, "another relay"},
		{0, "eth0", Path{}, "enter "},
	} {
		r, err := Start(c.namespace, c.in, c.path)
		if err == nil {
			r.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "start relay on "+c.in+": ") {
			t.Errorf("start on %s with %+v: error %v, expected %q", c.in, c.path, err, c.want)
		}
	}
	if left := descriptors(t); left != open {
		t.Errorf("%d descriptors are open, %d were before", left, open)
	}
}

// A netdyno that was killed leaves its rule, which lets packets pass, and the
// next one takes its place.
func TestAKilledRelayIsReplaced(t *testing.T) {
	a, b := joined(t)
	from, to := packets(t, a, a.v4), packets(t, b, b.v4)
	left, err := addRule(b.namespace, "eth0")
	if err != nil {
		t.Fatal(err)
	}
	defer left.conn.CloseLasting()
	if came := numbered(t, from, to, 10); len(came) != 10 {
		t.Errorf("%d of 10 packets pass a rule without a relay", len(came))
	}
	r := relayed(t, b, Path{LossShare: 1})
	if came := numbered(t, from, to, 10); len(came) != 0 {
		t.Errorf("%d packets pass the new relay", len(came))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if left := tables(t, b); len(left) != 0 {
		t.Errorf("tables %q are left", left)
	}
}
