package remote

import (
	"context"

	"netdyno/internal/run/rig"
)

// Kind is the rig of hosts behind commands of the user's, as users choose it: in
// a file.
var Kind = rig.Kind{Name: "prefix", Form: "FILE.yaml", Options: []string{"cache", "shared"}, HostKey: "prefix", Build: build}

// build takes the hosts of a file, each behind a command of the user's.
func build(ctx context.Context, c rig.Choice) (rig.Rig, error) {
	if len(c.Hosts) == 0 {
		return nil, c.Errorf("it names no host; write a file with rig: prefix, and hosts with prefix and address")
	}
	shared, err := c.Flag("shared")
	if err != nil {
		return nil, err
	}
	var hosts []rig.Host
	for _, d := range c.Hosts {
		h := rig.Host{Name: d.Title(), Address: d.Address, Prefix: d.Prefix, Shell: d.Shell, CPUs: d.CPUs()}
		if err := h.ResolveAddress(ctx, d.Interface); err != nil {
			return nil, c.Errorf("%w", err)
		}
		hosts = append(hosts, h)
	}
	return New(c.Name, hosts, Options{Cache: c.Options["cache"], Shared: shared}), nil
}
