package slurm

import (
	"context"
	"slices"

	"netdyno/internal/run/rig"
)

// Kind is the rig of a Slurm cluster's nodes, as users choose it.
var Kind = rig.Kind{
	Name: "slurm", Form: "slurm[:NODES][?interface=NAME&partition=NAME&time=LIMIT…]",
	Options: slices.Concat([]string{"interface", "cache", "shared"}, Requests), HostKey: "node", Build: build,
}

// build reads the number of nodes and what to ask for.
func build(ctx context.Context, c rig.Choice) (rig.Rig, error) {
	const standard = 2
	nodes, err := c.Count(standard)
	if err != nil {
		return nil, err
	}
	if nodes < 1 || nodes > rig.MaxHosts {
		return nil, c.Errorf("%d nodes; expected from 1 to %d", nodes, rig.MaxHosts)
	}
	o := Options{
		Name: c.Name, Nodes: nodes, Cache: c.Options["cache"], Interface: c.Options["interface"],
		Request: map[string]string{}, Known: map[string]Node{},
	}
	if o.Shared, err = c.Flag("shared"); err != nil {
		return nil, err
	}
	for _, key := range Requests {
		if value, given := c.Options[key]; given {
			o.Request[key] = value
		}
	}
	for _, d := range c.Hosts {
		o.Known[d.Node] = Node{Address: d.Address, Interface: d.Interface, CPUs: d.CPUs()}
	}
	return Join(ctx, o)
}
