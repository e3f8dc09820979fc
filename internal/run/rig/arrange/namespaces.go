package arrange

import (
	"context"
	"fmt"

	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/namespaces"
)

// The bounds of an MTU: IPv4's least, and the most that a veth takes.
const minMTU, maxMTU = 576, 65535

// buildNamespaces has one server and one client unless the user counts.
func buildNamespaces(_ context.Context, c Choice) (rig.Rig, error) {
	hosts, err := c.count(2)
	if err != nil {
		return nil, err
	}
	mtu, err := c.bytes("mtu")
	if err != nil {
		return nil, err
	}
	if mtu != 0 && (mtu < minMTU || mtu > maxMTU) {
		return nil, fmt.Errorf("rig %q: mtu=%d; expected from %d to %d", c.text, mtu, minMTU, maxMTU)
	}
	return namespaces.Build(namespaces.Options{Hosts: hosts, MTU: mtu})
}
