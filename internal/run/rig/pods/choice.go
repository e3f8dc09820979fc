package pods

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"netdyno/internal/pattern"
	"netdyno/internal/run/rig"
)

// standardImage is small, in every registry's mirror, and has the shell and the few programs
// by which files are brought.
const standardImage = "docker.io/library/busybox:1.37"

// kind is its name.
const kind = "k8s"

// Kind is the rig of pods, as users choose it.
var Kind = rig.Kind{
	Name: kind, Form: "k8s[:N][?namespace=NAME&network=host|pod&node=NAME,…&cpu=CPUS&memory=SIZE&image=NAME]",
	Options: []string{"context", "namespace", "network", "node", "cpu", "memory", "image", "security"}, Build: build,
}

// What Kubernetes allows in names.
// Source: Kubernetes, "Object Names and IDs", DNS subdomain and label names.
var (
	objectName = pattern.Once(`^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$`)
	quantityOf = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?(m|k|M|G|T|Ki|Mi|Gi|Ti)?$`)
	imageName  = pattern.Once(`^[a-zA-Z0-9][a-zA-Z0-9._:/@-]{0,511}$`)
)

// build makes one server's and one client's pod unless the user counts.
func build(ctx context.Context, c rig.Choice) (rig.Rig, error) {
	hosts, err := c.Count(2)
	if err != nil {
		return nil, err
	}
	o := Options{
		Hosts: hosts, Context: c.Options["context"], Namespace: c.Options["namespace"], Network: c.Options["network"],
		Image: cmp.Or(c.Options["image"], standardImage), CPU: c.Options["cpu"], Memory: c.Options["memory"], Security: c.Options["security"],
	}
	if nodes := c.Options["node"]; nodes != "" {
		o.Nodes = strings.Split(nodes, ",")
	}
	if err := o.check(c); err != nil {
		return nil, err
	}
	o.Bounds = c.Given("node", "cpu", "memory", "image", "security")
	return New(ctx, o)
}

// check refuses what cannot be, before anything is asked of a cluster.
func (o Options) check(c rig.Choice) error {
	switch {
	case o.Hosts < 1 || o.Hosts > MaxHosts:
		return c.Errorf("%d pods; expected from 1 to %d", o.Hosts, MaxHosts)
	case o.Network != "" && !slices.Contains(networks, o.Network):
		return c.Errorf("network=%s; expected host (that of the node) or pod (the cluster's)", o.Network)
	case o.Namespace != "" && !objectName().MatchString(o.Namespace):
		return c.Errorf("namespace=%s is no name of a namespace", o.Namespace)
	case !imageName().MatchString(o.Image):
		return c.Errorf("image=%s is no name of an image; expected such as busybox:1.37", o.Image)
	case o.Security != "" && o.Security != "restricted":
		return c.Errorf("security=%s; expected restricted", o.Security)
	case len(o.Nodes) > o.Hosts:
		return c.Errorf("node= names %d nodes for %d pods; k8s:%d makes one on each", len(o.Nodes), o.Hosts, len(o.Nodes))
	}
	for _, node := range o.Nodes {
		if !objectName().MatchString(node) {
			return c.Errorf("node=%s is no name of a node", node)
		}
	}
	for _, key := range []string{"cpu", "memory"} {
		if value := c.Options[key]; value != "" && !quantityOf.MatchString(value) {
			return c.Errorf("%s=%s; expected a quantity of Kubernetes, such as cpu=2 or memory=1Gi", key, value)
		}
	}
	return nil
}
