// Package relay gives the links of rig netns a delay and losses where the kernel has no
// sch_netem: it holds the packets that come into a host in an NFQUEUE, and lets them go
// when they are due.
//
// It sits at the receiver: at the sender, what it holds would count against TCP small
// queues and stall a long flow. A packet is what the kernel handles as one, with
// segmentation offload up to 64 KiB of TCP. Only unicast IP packets are held, ARP is not.
// The kernel receives a packet on the thread that lets it go, so that part of the
// receiver's CPU time is this process's own.
//
// Source: Linux, net/netfilter/nfnetlink_queue.c and
// include/uapi/linux/netfilter/nfnetlink_queue.h.
package relay

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/run/rig"
)

// Path is what happens to packets on their way into a host.
type Path struct {
	Delay     time.Duration // from when the relay reads of a packet, some 0.1 ms after it came
	LossShare float64       // of packets, 0 to 1, each drawn by itself
	Seed      uint64        // of the draws
}

// Relay holds the packets that come into one host, which can have one relay at a time.
// Whoever starts a Relay closes it.
type Relay struct {
	path  Path
	queue *queue
	rule  *rule
	wake  int           // an eventfd that tells the loop to end
	ended chan struct{} // the loop is over, and err is set
	err   error
	close func() error
}

// Start holds what comes into a host of rig netns. It needs root.
func Start(host rig.Host, path Path) (*Relay, error) {
	r, err := start(host, path)
	if err != nil {
		return nil, fmt.Errorf("start a relay at %s: %w", host.Name, err)
	}
	r.close = sync.OnceValue(func() error {
		if err := r.end(); err != nil {
			return fmt.Errorf("relay at %s: %w", host.Name, err)
		}
		return nil
	})
	return r, nil
}

func start(host rig.Host, path Path) (_ *Relay, err error) {
	namespace, err := open(host)
	if err != nil {
		return nil, err
	}
	defer func() { _ = namespace.Close() }() // nothing was written
	r := &Relay{path: path, ended: make(chan struct{})}
	if r.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, err
	}
	if r.queue, err = openQueue(int(namespace.Fd())); err != nil {
		return nil, errors.Join(err, unix.Close(r.wake))
	}
	// Last, as packets are queued from here on.
	if r.rule, err = addRule(int(namespace.Fd())); err != nil {
		return nil, errors.Join(err, r.queue.close(), unix.Close(r.wake))
	}
	go func() {
		r.err = r.run()
		close(r.ended)
	}()
	return r, nil
}

// open opens a host's namespace.
func open(host rig.Host) (*os.File, error) {
	for _, part := range host.Prefix {
		if path, found := strings.CutPrefix(part, "--net="); found {
			return os.Open(path)
		}
	}
	return nil, fmt.Errorf("the command that reaches it is %q; expected nsenter with --net=", host.Prefix)
}

// Close ends the relay; packets that it holds are lost, later ones pass. It returns why
// the relay ended before, if it did.
func (r *Relay) Close() error { return r.close() }

func (r *Relay) end() error {
	removed := r.rule.remove() // and the kernel drops what is queued
	one := [8]byte{1}          // in either byte order not zero
	_, woken := unix.Write(r.wake, one[:])
	<-r.ended
	return errors.Join(r.err, removed, woken, r.queue.close(), unix.Close(r.wake))
}

// held is a packet that waits for its verdict.
type held struct {
	due  time.Time
	id   uint32
	lost bool
}

// run relays until it is woken.
func (r *Relay) run() error {
	const burst = 64 // packets that are read before it is looked again whether any are due
	random := rand.New(rand.NewPCG(r.path.Seed, 0))
	waits := []unix.PollFd{{Fd: int32(r.queue.fd), Events: unix.POLLIN}, {Fd: int32(r.wake), Events: unix.POLLIN}}
	var waiting []held
	for {
		for ; len(waiting) > 0 && time.Until(waiting[0].due) <= 0; waiting = waiting[1:] {
			r.queue.decide(waiting[0].id, waiting[0].lost)
		}
		if err := r.queue.flush(); err != nil {
			return err
		}
		var until *unix.Timespec
		if len(waiting) > 0 {
			wait := unix.NsecToTimespec(max(0, int64(time.Until(waiting[0].due))))
			until = &wait
		}
		if _, err := unix.Ppoll(waits, until, nil); err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for packets: %w", err)
		}
		if waits[1].Revents != 0 {
			return nil
		}
		for range burst {
			id, some, err := r.queue.next()
			if err != nil {
				return err
			}
			if !some {
				break
			}
			waiting = append(waiting, held{time.Now().Add(r.path.Delay), id, random.Float64() < r.path.LossShare})
		}
	}
}
