// Package remote is the rig of hosts that any command of the user's reaches: ssh, srun,
// kubectl exec, docker exec. The rig brings netdyno's programs to a host through that
// command and takes them away again. Nothing listens anywhere: a host is held by the
// stdin of a running command, and everything is removed when that command ends.
package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/run/rig"
)

// Rig implements rig.Rig, rig.Deployer and rig.Recoverer. One goroutine at a time may use it.
type Rig struct {
	name      string
	hosts     []rig.Host
	shared    bool // the hosts have this host's files at the same paths
	artifacts []artifact
	stores    []*store // by host; nil where nothing was delivered
}

// New returns a rig of hosts, the server's first. Nothing is brought to hosts that share this
// host's files, at the same paths.
func New(name string, hosts []rig.Host, shared bool) *Rig {
	return &Rig{name: name, hosts: hosts, shared: shared}
}

// Name implements rig.Rig.
func (r *Rig) Name() string { return r.name }

// Hosts implements rig.Rig.
func (r *Rig) Hosts() []rig.Host { return slices.Clone(r.hosts) }

// Deploy implements rig.Deployer: every file lies at its host under its
// content's SHA-256 and is compared there with that before it may run.
func (r *Rig) Deploy(ctx context.Context, files []string) error {
	if r.shared {
		return nil
	}
	var err error
	if r.artifacts, err = hashArtifacts(files); err == nil {
		r.stores = make([]*store, len(r.hosts))
		for i := range r.hosts {
			r.hosts[i].Files = map[string]string{} // Hosts share it: what Recover enters, they all have
		}
		err = r.fill(ctx)
	}
	if err != nil {
		return fmt.Errorf("rig %s: %w", r.name, err)
	}
	return nil
}

// Recover implements rig.Recoverer: a host that has lost its directory gets another. The
// new directory has a new name, because the host may remove the old one as late as it
// notices that the line was cut.
func (r *Rig) Recover(ctx context.Context) error {
	r.DropLost(ctx)
	return r.fill(ctx)
}

// DropLost gives up every directory that no longer exists, with the command that kept it,
// and returns the names of the hosts. The command may hang instead of ending when its
// other end is gone, so DropLost asks the host.
func (r *Rig) DropLost(ctx context.Context) []string {
	gone := make([]string, len(r.stores))
	var group errgroup.Group
	for i, s := range r.stores {
		if s == nil {
			continue
		}
		group.Go(func() error {
			if !s.there(ctx) {
				s.abandon(ctx)
				r.stores[i], gone[i] = nil, s.host.Name
			}
			return nil
		})
	}
	_ = group.Wait() // nothing errs
	return slices.DeleteFunc(gone, func(name string) bool { return name == "" })
}

// fill delivers where there is no directory. Its errors are of single hosts; the
// others have what they need.
func (r *Rig) fill(ctx context.Context) error {
	_, err := rig.AtEach(r.hosts[:len(r.stores)], func(i int) error {
		if r.stores[i] != nil {
			return nil
		}
		s, err := openStore(ctx, r.hosts[i])
		if err != nil {
			return err
		}
		r.stores[i] = s
		return s.putArtifacts(ctx, r.artifacts, r.hosts[i].Files)
	})
	return err
}

// Close implements rig.Rig: what was delivered is removed.
func (r *Rig) Close() error {
	errs := make([]error, len(r.stores))
	var group errgroup.Group
	for i, s := range r.stores {
		if s == nil {
			continue
		}
		group.Go(func() error {
			errs[i] = s.close()
			return nil
		})
	}
	_ = group.Wait() // errs has them all
	r.stores = nil
	return errors.Join(errs...)
}

// Kind is the rig of hosts behind commands of the user's, as users choose it: in
// a file.
var Kind = rig.Kind{Name: "prefix", Form: "FILE.yaml", Options: []string{"shared"}, HostKey: "prefix", Build: build}

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
	return New(c.Name, hosts, shared), nil
}
