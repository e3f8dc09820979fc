package containers

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"netdyno/internal/pattern"
	"netdyno/internal/run/rig"
)

// Kinds are the rigs of containers, as users choose them.
var Kinds = []rig.Kind{kind("podman"), kind("docker")}

func kind(program string) rig.Kind {
	return rig.Kind{
		Name: program, Form: program + "[:N][?network=host|bridge|NAME&cpus=N&quota=CPUS&memory=BYTES]",
		Options: []string{"network", "cpus", "quota", "memory"}, Build: func(ctx context.Context, c rig.Choice) (rig.Rig, error) { return build(ctx, program, c) },
	}
}

// leastMemory is what netdyno's own programs need beside a worker.
const leastMemory = 64 << 20

// build makes one server's and one client's container unless the user counts.
func build(ctx context.Context, program string, c rig.Choice) (rig.Rig, error) {
	hosts, err := c.Count(2)
	if err != nil {
		return nil, err
	}
	if hosts < 1 || hosts > MaxHosts {
		return nil, c.Errorf("%d containers; expected from 1 to %d", hosts, MaxHosts)
	}
	o := Options{Program: program, Hosts: hosts, Network: c.Options["network"], Quota: c.Options["quota"]}
	if err := checkNetwork(program, cmp.Or(o.Network, standardNetwork)); err != nil {
		return nil, c.Errorf("%w", err)
	}
	if text, given := c.Options["cpus"]; given {
		if o.CPUs, err = strconv.Atoi(text); err != nil || o.CPUs < 1 {
			return nil, c.Errorf("cpus=%s; expected a whole number of CPUs that each container has to itself; quota=%s bounds their time", text, text)
		}
	}
	if n, err := strconv.ParseFloat(cmp.Or(o.Quota, "1"), 64); err != nil || !(n >= 0.01 && n <= 1024) {
		return nil, c.Errorf("quota=%s; expected the CPUs whose time each container may use, such as 0.5", o.Quota)
	}
	memory := 0
	if memory, err = c.Bytes("memory"); err != nil {
		return nil, err
	}
	if o.MemoryBytes = int64(memory); memory != 0 && memory < leastMemory {
		return nil, c.Errorf("memory=%s; expected at least 64MiB", c.Options["memory"])
	}
	o.Bounds = c.Given("cpus", "quota", "memory")
	return New(ctx, o)
}

// networkName is what podman and docker allow a network to be called.
var networkName = pattern.Once(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$`)

// checkNetwork refuses a network by its name.
func checkNetwork(program, name string) error {
	if !networkName().MatchString(name) || name == "none" {
		return fmt.Errorf("network=%s; expected host, bridge or the name of a network that exists (%s network ls)", name, program)
	}
	return nil
}
