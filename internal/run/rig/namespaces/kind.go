package namespaces

import (
	"context"

	"netdyno/internal/run/rig"
)

// Kind is the rig of network namespaces, as users choose it.
var Kind = rig.Kind{Name: "netns", Form: "netns[:N|:RATE][?mtu=BYTES]", Options: []string{"mtu"}, Links: true, Build: build}

// The bounds of an MTU: IPv4's least, and the most that a veth takes.
const minMTU, maxMTU = 576, 65535

// build makes one server's and one client's namespace unless the user counts.
func build(_ context.Context, c rig.Choice) (rig.Rig, error) {
	hosts, err := c.Count(2)
	if err != nil {
		return nil, err
	}
	mtu, err := c.Bytes("mtu")
	if err != nil {
		return nil, err
	}
	if mtu != 0 && (mtu < minMTU || mtu > maxMTU) {
		return nil, c.Errorf("mtu=%d; expected from %d to %d", mtu, minMTU, maxMTU)
	}
	return Build(Options{Hosts: hosts, MTU: mtu})
}
