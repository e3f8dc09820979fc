// Package relay gives a link delay and loss on kernels without sch_netem: it
// holds the packets that come into a network namespace in an NFQUEUE and lets
// them go when they are due.
//
// It sits on the receiver's side. On the sender's, what it holds would count
// against TCP small queues and stall a long flow. A packet is what the kernel
// handles as one: with segmentation offload up to 64 KiB of TCP, delayed and
// lost together. Only unicast IPv4 and IPv6 are held; ARP and neighbour
// solicitation are not. The kernel receives a packet on the thread that lets it
// go, so the network stack's receiving CPU time shows up in our own process.
//
// Source: Linux, net/netfilter/nfnetlink_queue.c and
// include/uapi/linux/netfilter/nfnetlink_queue.h.
package relay

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/hist"
)

// MaxDelay is the longest delay of a path. No link is as slow, and every held
// packet takes the kernel's memory.
const MaxDelay = 10 * time.Second

// Path is what happens to packets on the way into a namespace, and only on that
// way. The zero value lets them through as soon as it can, which is how the
// relay's own delay is measured.
type Path struct {
	Delay     time.Duration // 0 to MaxDelay, from the packet's arrival
	LossShare float64       // of packets, 0 to 1, each drawn by itself
	Seed      uint64        // of the draws: equal seeds lose the same packets of equal traffic
}

func (p Path) check() error {
	switch {
	case p.Delay < 0 || p.Delay > MaxDelay:
		return fmt.Errorf("delay of %v: expected 0s to %v", p.Delay, MaxDelay)
	case math.IsNaN(p.LossShare) || p.LossShare < 0 || p.LossShare > 1:
		return fmt.Errorf("loss share of %v: expected 0 to 1", p.LossShare)
	}
	return nil
}

// Account is what became of the packets so far.
type Account struct {
	Packets    int64 // that came in; those below are among them
	Dropped    int64 // lost as Path asks
	Overflowed int64 // lost because too many were held; noticed when the next one comes

	// Lateness is how long after it was due each packet had its verdict, in ns:
	// the delay and jitter that the relay adds of its own, from the packet's
	// arrival in the namespace on. What Close released is not in it. The caller
	// owns it.
	Lateness *hist.Histogram
}

// Relay holds the packets that come in through one interface of one namespace,
// which can have one relay at a time. Whoever starts a Relay must close it; until
// then it keeps the namespace alive. Every method may be called from any goroutine.
type Relay struct {
	name  string // for errors: "eth0 in net:[4026532008]"
	rule  *rule
	queue *queue
	link  *link
	wake  int // eventfd: tells the loop to release everything and end

	tally tally
	ended chan struct{} // the loop is over and err is set
	err   error

	closing  sync.Once
	closeErr error
}

// tally is the loop's counters; only the loop writes them.
type tally struct {
	packets, dropped, overflowed atomic.Int64
	lateness                     *hist.Recorder
}

// bounds limit what a relay holds, in packets and in bytes of messages that
// announce packets: what is beyond both is lost.
type bounds struct {
	held   int
	unread int
}

// generous holds 65,536 packets, and as many again in their announcements,
// which take about 1 KiB each: 100 ms of a million packets per second.
var generous = bounds{held: 1 << 16, unread: 32 << 20}

// Start holds every unicast packet that comes into the namespace, given as an
// open file descriptor which may be closed afterwards, through the interface of
// that name. It needs CAP_NET_ADMIN and CAP_SYS_ADMIN. What a relay that was
// killed left behind is replaced; one that still runs there is an error.
func Start(namespace int, in string, path Path) (*Relay, error) {
	r, err := start(namespace, in, path, generous)
	if err != nil {
		return nil, fmt.Errorf("start relay on %s: %w", in, err)
	}
	return r, nil
}

func start(namespace int, in string, path Path, limit bounds) (*Relay, error) {
	if err := path.check(); err != nil {
		return nil, err
	}
	r := &Relay{
		name: in + " in " + nameOf(namespace), wake: -1, ended: make(chan struct{}),
		tally: tally{lateness: hist.NewRecorder()},
	}
	err := within(namespace, func() (err error) {
		if r.link, err = watchLink(in); err == nil {
			r.queue, err = openQueue(limit.unread)
		}
		return err
	})
	if err == nil {
		r.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	if err == nil {
		// Last, as packets are queued from here on.
		r.rule, err = addRule(namespace, in)
	}
	if err != nil {
		return nil, errors.Join(err, r.abandon())
	}
	go r.relay(newHolder(path, limit.held, r.queue, &r.tally))
	return r, nil
}

// relay is the loop's goroutine.
func (r *Relay) relay(h *holder) {
	defer close(r.ended)
	err := h.run(r.link, r.wake)
	// With nobody to read the queue the rule lets packets pass.
	if err = errors.Join(err, r.queue.close(), r.link.close()); err != nil {
		r.err = fmt.Errorf("relay on %s: %w", r.name, err)
	}
}

// Account returns what became of the packets so far, also after Close.
func (r *Relay) Account() Account {
	return Account{
		Packets:    r.tally.packets.Load(),
		Dropped:    r.tally.dropped.Load(),
		Overflowed: r.tally.overflowed.Load(),
		Lateness:   r.tally.lateness.Snapshot(),
	}
}

// Err returns why the relay ended by itself, as when its interface is removed;
// nil while it relays and after a Close that was in time. The packets of an
// ended relay pass without delay.
func (r *Relay) Err() error {
	select {
	case <-r.ended:
		return r.err
	default:
		return nil
	}
}

// Close releases what is held, removes rule and queue and returns the error of
// Err too. Closing twice, or when the namespace has lost its name or its
// interface, is fine.
func (r *Relay) Close() error {
	r.closing.Do(func() {
		// The order matters: nothing may come in any more when the rest is
		// released, and removing the chain makes the kernel drop all that is queued.
		emptied := r.rule.empty()
		one := [8]byte{1} // in either byte order not zero
		_, woken := unix.Write(r.wake, one[:])
		<-r.ended
		err := errors.Join(emptied, woken, r.rule.remove(), unix.Close(r.wake))
		if err != nil {
			err = fmt.Errorf("close relay on %s: %w", r.name, err)
		}
		r.closeErr = errors.Join(r.err, err)
	})
	return r.closeErr
}

// abandon closes what a failed start has opened.
func (r *Relay) abandon() error {
	var err error
	if r.link != nil {
		err = r.link.close()
	}
	if r.queue != nil {
		err = errors.Join(err, r.queue.close())
	}
	if r.wake >= 0 {
		err = errors.Join(err, unix.Close(r.wake))
	}
	return err
}

// within does something on a thread that is in the namespace, where sockets are
// born. The goroutine is a fresh one: should its thread not find back home, it
// ends with the goroutine, and nobody else ever runs in the wrong namespace.
func within(namespace int, do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		home, err := visit(namespace, do)
		if home {
			runtime.UnlockOSThread()
		}
		done <- err
	}()
	return <-done
}

// visit also says whether the thread is back where it came from.
func visit(namespace int, do func() error) (home bool, err error) {
	own, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return true, fmt.Errorf("open our own namespace: %w", err)
	}
	defer func() { err = errors.Join(err, unix.Close(own)) }()
	if err := unix.Setns(namespace, unix.CLONE_NEWNET); err != nil {
		return true, fmt.Errorf("enter %s: %w", nameOf(namespace), err)
	}
	err = do()
	if back := unix.Setns(own, unix.CLONE_NEWNET); back != nil {
		return false, errors.Join(err, fmt.Errorf("return to our own namespace: %w", back))
	}
	return true, err
}

// nameOf returns what a namespace's descriptor is open for: a path, or an inode
// as in net:[4026532008].
func nameOf(namespace int) string {
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", namespace))
	if err != nil {
		return fmt.Sprintf("namespace descriptor %d", namespace)
	}
	return name
}
