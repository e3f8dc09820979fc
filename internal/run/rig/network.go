package rig

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/quantity"
)

// Networked is a rig that can have hosts on several networks, which are levels of factor
// network.
type Networked interface {
	// Networks returns the levels that it can have, as an error names them.
	Networks() []string
	// On says which networks trials need. It is called before Deploy, at most once, and
	// only where trials name a network: then Hosts are those of every one of these, each
	// with its Network and a name of its own, the server's first. Hosts of different
	// networks may share CPUs, as trials run one after the other.
	On(networks []string) error
}

// OneNetwork is the error of a rig without factor network.
func OneNetwork(r Rig) error {
	return fmt.Errorf("rig %s has one network (network); --rig podman, docker or k8s has several", r.Name())
}

// NamedTwice is the error of a rig whose network its user has chosen, where a study names
// networks too.
func NamedTwice(r Rig, names []string) error {
	return fmt.Errorf("rig %s: the study names networks itself (network=%s); leave network out of the rig", r.Name(), strings.Join(names, ","))
}

// onNetwork returns the hosts on a network.
func onNetwork(hosts []Host, network string) ([]Host, error) {
	on := slices.DeleteFunc(slices.Clone(hosts), func(h Host) bool { return h.Network != network })
	if len(on) > 0 {
		return on, nil
	}
	has := slices.Compact(slices.Sorted(slices.Values(each.Of(hosts, func(h Host) string { return h.Network }))))
	if network == "" {
		return nil, fmt.Errorf("the rig's hosts are on networks %s, and the trial names none", strings.Join(has, ", "))
	}
	return nil, fmt.Errorf("the rig has no network %q; %s", quantity.Clip(network, 80), quantity.Hint(network, has))
}
