package arrange

import (
	"context"
	"fmt"
	"strings"

	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/openssh"
	"netdyno/internal/run/rig/remote"
	"netdyno/internal/run/rig/slurm"
)

// maxHosts bounds the hosts of a rig.
const maxHosts = 1024

// connectSSH connects to the hosts of a file, or to HOST[=ADDRESS],….
func connectSSH(ctx context.Context, c Choice) (rig.Rig, error) {
	if len(c.described) == 0 {
		for item := range strings.SplitSeq(c.argument, ",") {
			destination, address, _ := strings.Cut(item, "=")
			// ssh would take a leading dash for an option.
			if destination == "" || strings.HasPrefix(destination, "-") {
				return nil, fmt.Errorf("rig %q: %q is not a host; expected %s", c.text, item, c.kind.form)
			}
			c.described = append(c.described, description{SSH: destination, Address: address})
		}
		if err := c.checkHosts(); err != nil {
			return nil, err
		}
	}
	if len(c.described) > maxHosts {
		return nil, fmt.Errorf("rig %q: %d hosts; expected at most %d", c.text, len(c.described), maxHosts)
	}
	o := openssh.Options{Name: c.name(), Config: c.options["config"], Cache: c.options["cache"]}
	for _, s := range c.described {
		h := openssh.Host{Name: s.name(), SSH: s.SSH, Address: s.Address, Interface: s.Interface, CPUs: s.cpus()}
		if h.Interface == "" {
			h.Interface = c.options["interface"]
		}
		o.Hosts = append(o.Hosts, h)
	}
	return openssh.Connect(ctx, o)
}

// joinSlurm reads the number of nodes and what to ask for.
func joinSlurm(ctx context.Context, c Choice) (rig.Rig, error) {
	const standard = 2
	nodes, err := c.count(standard)
	if err != nil {
		return nil, err
	}
	if nodes < 1 || nodes > maxHosts {
		return nil, fmt.Errorf("rig %q: %d nodes; expected from 1 to %d", c.text, nodes, maxHosts)
	}
	o := slurm.Options{
		Name: c.name(), Nodes: nodes, Cache: c.options["cache"], Interface: c.options["interface"],
		Request: map[string]string{}, Known: map[string]slurm.Node{},
	}
	if o.Shared, err = c.flag("shared"); err != nil {
		return nil, err
	}
	for _, key := range slurm.Requests {
		if value, given := c.options[key]; given {
			o.Request[key] = value
		}
	}
	for _, s := range c.described {
		o.Known[s.Node] = slurm.Node{Address: s.Address, Interface: s.Interface, CPUs: s.cpus()}
	}
	return slurm.Join(ctx, o)
}

// reachByPrefix takes the places of a file, each behind a command of the
// user's.
func reachByPrefix(ctx context.Context, c Choice) (rig.Rig, error) {
	if len(c.described) == 0 {
		return nil, fmt.Errorf("rig %q names no place; a rig of prefixes is written as a file: rig: prefix, and places with prefix and address", c.text)
	}
	shared, err := c.flag("shared")
	if err != nil {
		return nil, err
	}
	var hosts []rig.Host
	for _, s := range c.described {
		h := rig.Host{Name: s.name(), Address: s.Address, Prefix: s.Prefix, Shell: s.Shell, CPUs: s.cpus()}
		if err := h.ResolveAddress(ctx, s.Interface); err != nil {
			return nil, fmt.Errorf("rig %q: %w", c.text, err)
		}
		hosts = append(hosts, h)
	}
	return remote.New(c.name(), hosts, remote.Options{Cache: c.options["cache"], Shared: shared}), nil
}
