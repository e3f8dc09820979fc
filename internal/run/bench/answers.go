package bench

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"

	"netdyno/internal/contract"
)

// awaitHello waits for a worker's hello. A file may have changed since it was found,
// and another host may hold another one, so the version is asked here again.
func (t *trial) awaitHello(ctx context.Context, c *conversation) error {
	m, err := c.await(ctx, "hello", t.bench.Timeouts.Hello)
	if err != nil {
		return err
	}
	if v := m.Hello.Contract; v != contract.Version {
		c.failed(contract.Invalid, fmt.Sprintf("speaks contract %d, this netdyno speaks %d (CONTRACT.md, section Versioning)", v, contract.Version))
		return context.Cause(ctx)
	}
	c.enter("idle")
	return nil
}

// misplaced reports the first address of a ready server that clients must not be
// sent to: one that is no host:port, or that is not of the host where the setup
// bound it. Nil when there is none. Where it was bound is not told by a name, nor
// by the address of every interface.
func misplaced(addresses []string, listen string) error {
	bound, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("read the address to listen on: %w", err)
	}
	for _, address := range addresses {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return fmt.Errorf("says it listens on %q, expected host:port: %w (CONTRACT.md, section ready)", address, err)
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("says it listens on %q, expected a port from 1 to 65535 (CONTRACT.md, section ready)", address)
		}
		if !sameHost(host, bound) {
			return fmt.Errorf("says it listens on %s, but it was to bind %s: clients would drive another host (CONTRACT.md, section ready)", address, bound)
		}
	}
	return nil
}

// sameHost compares two hosts of addresses. A bound that is a name or stands for
// every interface allows any.
func sameHost(host, bound string) bool {
	want, err := netip.ParseAddr(bound)
	if err != nil || want.IsUnspecified() {
		return true
	}
	got, err := netip.ParseAddr(host)
	return err == nil && got.Unmap().WithZone("") == want.Unmap().WithZone("")
}
