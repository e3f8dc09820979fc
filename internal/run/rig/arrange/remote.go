package arrange

import (
	"context"
	"fmt"
	"strings"

	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/openssh"
	"netdyno/internal/run/rig/slurm"
)

// maxPlaces bounds the places of a rig.
const maxPlaces = 1024

// connectSSH reads HOST[=ADDRESS],… and connects.
func connectSSH(ctx context.Context, c Choice) (rig.Rig, error) {
	var hosts []openssh.Host
	seen := map[string]bool{}
	for item := range strings.SplitSeq(c.seats, ",") {
		destination, address, _ := strings.Cut(item, "=")
		// ssh would take a leading dash for an option.
		if destination == "" || strings.HasPrefix(destination, "-") {
			return nil, fmt.Errorf("rig %q: %q is not a host; expected %s", c.text, item, c.kind.form)
		}
		if seen[destination] {
			return nil, fmt.Errorf("rig %q: %s is named twice", c.text, destination)
		}
		seen[destination] = true
		hosts = append(hosts, openssh.Host{SSH: destination, Address: address})
	}
	if len(hosts) > maxPlaces {
		return nil, fmt.Errorf("rig %q: %d hosts; expected at most %d", c.text, len(hosts), maxPlaces)
	}
	return openssh.Connect(ctx, openssh.Options{Name: c.name(), Hosts: hosts, Config: c.options["config"], Cache: c.options["cache"]})
}

// joinSlurm reads the number of nodes and what to ask for.
func joinSlurm(ctx context.Context, c Choice) (rig.Rig, error) {
	const standard = 2
	nodes, err := c.count(standard)
	if err != nil {
		return nil, err
	}
	if nodes < 1 || nodes > maxPlaces {
		return nil, fmt.Errorf("rig %q: %d nodes; expected from 1 to %d", c.text, nodes, maxPlaces)
	}
	o := slurm.Options{Name: c.name(), Nodes: nodes, Cache: c.options["cache"], Request: map[string]string{}}
	if o.Shared, err = c.flag("shared"); err != nil {
		return nil, err
	}
	for _, key := range slurm.Requests {
		if value, given := c.options[key]; given {
			o.Request[key] = value
		}
	}
	return slurm.Join(ctx, o)
}
