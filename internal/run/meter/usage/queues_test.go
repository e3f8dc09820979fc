package usage

import (
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"netdyno/internal/contract"
)

// A thread of this process that could run and was not given a CPU says so.
func TestThreadsThatWaitForACPU(t *testing.T) {
	if _, err := os.Stat("/proc/thread-self/schedstat"); err != nil {
		t.Skip("the kernel keeps no schedstat")
	}
	m, err := readOnce(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var waited int64
	for _, thread := range m.Threads {
		if thread.WaitNs < 0 || thread.WaitNs > m.AtNs {
			t.Errorf("%+v waited longer than the host runs", thread)
		}
		waited += thread.WaitNs
	}
	if waited == 0 {
		t.Errorf("nobody ever waited: %+v", m.Threads)
	}
}

// What a token bucket holds back is in the interface's queue.
func TestQueueOfAnInterface(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	ns, err := netns.New()
	if err != nil {
		t.Fatal(err)
	}
	defer ns.Close()
	lo, err := netlink.LinkByName("lo")
	if err == nil {
		err = netlink.LinkSetUp(lo)
	}
	if err != nil {
		t.Fatal(err)
	}
	inside := exec.Command("sleep", "60")
	if err := inside.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = inside.Process.Kill(), inside.Wait() }()
	read := func() *contract.Queue {
		all := contract.Interfaces{{Name: "lo"}}
		var q queues
		q.addTo(all, inside.Process.Pid)
		return all[0].Queue
	}
	if q := read(); q != nil {
		t.Errorf("an interface without a discipline has the queue %+v", *q)
	}
	const rate, burst, datagrams, each = 1000, 5000, 20, 1000 // 1 kB/s: what is over the burst waits
	if err := netlink.QdiscAdd(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: lo.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
		Rate:       rate, Limit: 100_000, Buffer: netlink.Xmittime(rate, burst),
	}); err != nil {
		t.Fatal(err)
	}
	before := read()
	if before == nil || before.WaitingBytes != 0 {
		t.Fatalf("before anything was sent: %+v", before)
	}
	c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range datagrams {
		if _, err := c.WriteTo(make([]byte, each), c.LocalAddr()); err != nil {
			t.Fatal(err)
		}
	}
	after := read()
	for end := time.Now().Add(10 * time.Second); after.Waits == before.Waits && time.Now().Before(end); after = read() {
		time.Sleep(10 * time.Millisecond)
	}
	const frame = each + 14 + 20 + 8
	if all := after.SentBytes + after.WaitingBytes; all < datagrams*frame || after.Waits == before.Waits || after.WaitingBytes == 0 {
		t.Errorf("of %d bytes: %+v", datagrams*frame, *after)
	}
	outside, q := contract.Interfaces{{Name: "lo"}}, queues{}
	q.addTo(outside, os.Getppid()) // in another namespace than this thread's
	if outside[0].Queue != nil {
		t.Errorf("a process in another namespace has the queue %+v", *outside[0].Queue)
	}
}
