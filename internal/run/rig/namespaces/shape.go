package namespaces

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"netdyno/internal/record"
	"netdyno/internal/run/rig"
)

const (
	// queueing is how long a packet may wait in front of a rated cable before
	// the queue drops what comes: a switch's buffer, not a deep one.
	queueing = 20 * time.Millisecond
	// refill is the time whose bytes may pass in one burst. The bucket is filled
	// by a timer, and what a late one missed would be lost in a smaller bucket.
	refill = 2 * time.Millisecond
	// leastBurst takes frames of 64 KiB, which veth carries whole; a smaller
	// bucket would cut them up.
	leastBurst = 128 << 10
)

// Shape implements rig.Shaper: the rate is a token bucket (tc-tbf(8)) at both
// ends of each cable, so a packet meets it when it leaves a host and when it
// leaves the switch. Delay and loss are netem's (tc-netem(8)) in front of the
// host's bucket.
func (r *Rig) Shape(_ context.Context, link record.Link) error {
	var failed []error
	for i, h := range r.hosts {
		if err := r.shape(h, link); err != nil {
			failed = append(failed, &rig.HostError{Host: nameOf(i), Err: fmt.Errorf("shape its link: %w", err)})
		}
	}
	return errors.Join(failed...)
}

func (r *Rig) shape(h host, link record.Link) error {
	// The cable may have been taken down, by whoever looks what that does.
	for _, end := range []struct {
		links *netlink.Handle
		link  netlink.Link
	}{{r.hub.links, h.socket}, {h.links, h.cable}} {
		if err := end.links.LinkSetUp(end.link); err != nil {
			return fmt.Errorf("bring it up: %w", err)
		}
	}
	if err := errors.Join(unshape(r.hub.links, h.socket), unshape(h.links, h.cable)); err != nil {
		return err
	}
	if err := bucket(r.hub.links, h.socket, link.RateBitsPerS, netlink.HANDLE_ROOT); err != nil {
		return err
	}
	parent := uint32(netlink.HANDLE_ROOT)
	if link.Delay != 0 || link.LossShare != 0 {
		if err := emulate(h, link); err != nil {
			return err
		}
		parent = netlink.MakeHandle(emulator, 1)
	}
	return bucket(h.links, h.cable, link.RateBitsPerS, parent)
}

// emulator is the major number of netem's handle, limiter that of a bucket's.
const emulator, limiter = 10, 1

// emulate puts netem on what leaves a host.
func emulate(h host, link record.Link) error {
	const roomiest = 1 << 20 // packets: a second of small ones at any rate of ours
	err := h.links.QdiscReplace(netlink.NewNetem(
		netlink.QdiscAttrs{LinkIndex: h.cable.Attrs().Index, Handle: netlink.MakeHandle(emulator, 0), Parent: netlink.HANDLE_ROOT},
		netlink.NetemQdiscAttrs{Latency: uint32(link.Delay.Microseconds()), Loss: float32(100 * link.LossShare), Limit: roomiest},
	))
	if errors.Is(err, unix.ENOENT) {
		return ErrNoNetem
	}
	if err != nil {
		return fmt.Errorf("add netem: %w", err)
	}
	return nil
}

// ErrNoNetem is a link with a delay or losses on a kernel that can have neither.
var ErrNoNetem = errors.New("link.delay and link.loss need the kernel's netem (module sch_netem), which this kernel does not have; link.rate works without it")

// unshape takes away what shapes an interface.
func unshape(links *netlink.Handle, on netlink.Link) error {
	qdiscs, err := links.QdiscList(on)
	if err != nil {
		return fmt.Errorf("list its queueing disciplines: %w", err)
	}
	for _, q := range qdiscs {
		a := q.Attrs()
		if major := a.Handle >> 16; a.Parent != netlink.HANDLE_ROOT || major != emulator && major != limiter {
			continue
		}
		if err := links.QdiscDel(q); err != nil {
			return fmt.Errorf("remove its %s: %w", q.Type(), err)
		}
	}
	return nil
}

// bucket puts a token bucket of a rate in bits per second on an interface; none
// when the rate is 0.
func bucket(links *netlink.Handle, on netlink.Link, bits float64, parent uint32) error {
	if bits == 0 {
		return nil
	}
	bytes := bits / 8
	burst := max(bytes*refill.Seconds(), leastBurst)
	err := links.QdiscReplace(&netlink.Tbf{
		QdiscAttrs: netlink.QdiscAttrs{LinkIndex: on.Attrs().Index, Handle: netlink.MakeHandle(limiter, 0), Parent: parent},
		Rate:       uint64(bytes), Limit: bounded(burst + bytes*queueing.Seconds()), Buffer: netlink.Xmittime(uint64(bytes), bounded(burst)),
	})
	if err != nil {
		return fmt.Errorf("add a token bucket: %w", err)
	}
	return nil
}

func bounded(bytes float64) uint32 { return uint32(min(bytes, math.MaxUint32)) }
