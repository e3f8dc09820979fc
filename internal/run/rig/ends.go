package rig

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/quantity"
)

// Ends are the hosts on which the two ends of a trial run, by name; "" leaves an
// end to the rig's order.
type Ends struct{ Server, Client string }

// Choose returns the hosts of a rig as Seats takes them for these ends: the
// server's first. The error names a host that the rig does not have, and the
// nearest that it has.
func (e Ends) Choose(hosts []Host) ([]Host, error) {
	if e == (Ends{}) || len(hosts) == 0 {
		return hosts, nil
	}
	for _, name := range []string{e.Server, e.Client} {
		if name != "" && !slices.ContainsFunc(hosts, func(h Host) bool { return h.Name == name }) {
			return nil, fmt.Errorf("the rig has no host %q; %s", quantity.Clip(name, 80), quantity.Hint(name, namesOf(hosts)))
		}
	}
	server := cmp.Or(e.Server, firstBut(hosts, e.Client))
	chosen := slices.Clone(hosts)
	slices.SortStableFunc(chosen, func(a, b Host) int { return rank(a.Name == server) - rank(b.Name == server) })
	if e.Client == "" {
		return chosen, nil
	}
	return slices.DeleteFunc(chosen, func(h Host) bool { return h.Name != server && h.Name != e.Client }), nil
}

// firstBut returns the first host that is not the named one; on a rig of one host
// that one.
func firstBut(hosts []Host, name string) string {
	for _, h := range hosts {
		if h.Name != name {
			return h.Name
		}
	}
	return hosts[0].Name
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

func namesOf(hosts []Host) []string {
	names := make([]string, len(hosts))
	for i, h := range hosts {
		names[i] = h.Name
	}
	return names
}
