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

// relayed is a relay and the host whose arrivals it holds.
type relayed interface {
	Close() error
	Passed(into *record.Relay)
}

// Shape implements rig.Shaper: the rate is a token bucket (tc-tbf(8)) at both
// ends of each cable, so a packet meets it when it leaves a host and when it
// leaves the switch. Delay and loss are netem's at the sender where the kernel
// has it, and the relay's at the receiver where it has not.
func (r *Rig) Shape(_ context.Context, link record.Link) error {
	if err := r.release(); err != nil {
		return fmt.Errorf("shape the link: %w", err)
	}
	for i, h := range r.hosts {
		if err := errors.Join(bucket(r.hub.links, h.socket, link.RateBitsPerS), bucket(h.links, h.cable, link.RateBitsPerS)); err != nil {
			return fmt.Errorf("shape the cable of host %d: %w", i+1, err)
		}
	}
	if link.Delay == 0 && link.LossShare == 0 {
		return nil
	}
	return errors.New("shape the link: link.delay and link.loss are not there yet")
}

// bucket puts a token bucket of a rate in bits per second on an interface, or
// takes away what is on it when the rate is 0.
func bucket(links *netlink.Handle, on netlink.Link, bits float64) error {
	root := netlink.QdiscAttrs{LinkIndex: on.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT}
	if bits == 0 {
		err := links.QdiscDel(&netlink.GenericQdisc{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: root.LinkIndex, Parent: root.Parent}, QdiscType: "tbf"})
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINVAL) {
			return nil // there was none
		}
		return err
	}
	bytes := bits / 8
	burst := max(bytes*refill.Seconds(), leastBurst)
	return links.QdiscReplace(&netlink.Tbf{
		QdiscAttrs: root, Rate: uint64(bytes), Limit: bounded(burst + bytes*queueing.Seconds()), Buffer: netlink.Xmittime(uint64(bytes), bounded(burst)),
	})
}

func bounded(bytes float64) uint32 { return uint32(min(bytes, math.MaxUint32)) }

// Passed implements rig.Shaper.
func (r *Rig) Passed() *record.Relay {
	if len(r.relays) == 0 {
		return nil
	}
	var sum record.Relay
	for _, relay := range r.relays {
		relay.Passed(&sum)
	}
	return &sum
}

// release ends the relays.
func (r *Rig) release() error {
	var err error
	for _, relay := range r.relays {
		err = errors.Join(err, relay.Close())
	}
	r.relays = nil
	return err
}
