package openssh

import (
	"cmp"
	"context"
	"strings"

	"netdyno/internal/run/rig"
)

// Kind is the rig of hosts behind ssh, as users choose it.
var Kind = rig.Kind{
	Name: "ssh", Form: "ssh:HOST[=ADDRESS],HOST[=ADDRESS]…[?interface=NAME&config=FILE&cache=DIR]",
	Options: []string{"interface", "config", "cache"}, HostKey: "ssh", Build: build,
}

// build connects to the hosts of a file, or to HOST[=ADDRESS],….
func build(ctx context.Context, c rig.Choice) (rig.Rig, error) {
	described := c.Hosts
	if len(described) == 0 {
		var err error
		if described, err = listed(c); err != nil {
			return nil, err
		}
	}
	if len(described) > rig.MaxHosts {
		return nil, c.Errorf("%d hosts; expected at most %d", len(described), rig.MaxHosts)
	}
	o := Options{Name: c.Name, Config: c.Options["config"], Cache: c.Options["cache"]}
	for _, d := range described {
		o.Hosts = append(o.Hosts, Host{
			Name: d.Title(), SSH: d.SSH, Address: d.Address, Interface: cmp.Or(d.Interface, c.Options["interface"]), CPUs: d.CPUs(),
		})
	}
	return Connect(ctx, o)
}

// listed reads HOST[=ADDRESS],….
func listed(c rig.Choice) ([]rig.Described, error) {
	var all []rig.Described
	seen := map[string]bool{}
	for item := range strings.SplitSeq(c.Argument, ",") {
		destination, address, _ := strings.Cut(item, "=")
		switch {
		case destination == "", strings.HasPrefix(destination, "-"): // ssh would take a leading dash for an option
			return nil, c.Errorf("%q is not a host; expected %s", item, c.Form)
		case seen[destination]:
			return nil, c.Errorf("two hosts are named %s", destination)
		}
		seen[destination] = true
		all = append(all, rig.Described{SSH: destination, Address: address})
	}
	return all, nil
}
