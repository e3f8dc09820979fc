// Package qemu is the rig of guests that QEMU emulates on this host, with a device
// for RDMA in software (Soft-RoCE) on the data network of each: where verbs can be
// run without a card, and on a host whose kernel has none.
//
// A guest's kernel comes from Debian's package, unpacked and not installed. Its files
// are this host's, read-only, under a layer of the guest's own memory: every program
// of this host runs there at the same path, and nothing it writes is left. It is
// reached by ssh (package openssh).
//
// The files: image.go builds the kernel and the first files of a guest (package.go,
// modules.go); guest.go is one guest's process, and the keys by which it is reached.
package qemu

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/openssh"
	"netdyno/internal/run/rig/remote"
)

// Options of a rig.
type Options struct {
	Name        string // of the rig, as the user wrote it
	Guests      int    // 1 or 2
	MemoryBytes int    // of each
	CPUs        int    // of each
}

// Rig implements rig.Rig, rig.Deployer and rig.Recoverer.
type Rig struct {
	*openssh.Rig
	guests []*guest
	files  *remote.Temporary // keys, configuration and sockets, here
}

// needs are the programs that a guest is made and reached with, and their packages.
var needs = []struct{ program, debian string }{
	{"qemu-system-x86_64", "qemu-system-x86"},
	{"busybox", "busybox-static"},
	{"dropbear", "dropbear-bin"},
	{"dropbearkey", "dropbear-bin"},
	{"ssh", "openssh-client"},
	{"ssh-keygen", "openssh-client"},
	{"rdma", "iproute2"},
	{"apt-get", "apt"},
	{"dpkg-deb", "dpkg"},
	{"xz", "xz-utils"},
}

// Boot starts the guests, all at once, and connects to them. The first time, it
// downloads their kernel.
func Boot(ctx context.Context, o Options) (*Rig, error) {
	r := &Rig{}
	if err := r.boot(ctx, o); err != nil {
		return nil, fmt.Errorf("rig %s: %w", o.Name, errors.Join(err, r.Close()))
	}
	return r, nil
}

func (r *Rig) boot(ctx context.Context, o Options) error {
	for _, need := range needs {
		if _, err := exec.LookPath(need.program); err != nil {
			return fmt.Errorf("%s is not installed: sudo apt-get install %s", need.program, need.debian)
		}
	}
	image, err := findImage(ctx)
	if err != nil {
		return fmt.Errorf("build the guest: %w", err)
	}
	// A socket's path may have 107 bytes (unix(7)); the directory's is short.
	if r.files, err = remote.NewTemporary(ctx, rig.Host{Name: "this host"}); err != nil {
		return err
	}
	if err := makeKeys(ctx, r.files.Path()); err != nil {
		return err
	}
	hosts := make([]openssh.Host, o.Guests)
	var booting errgroup.Group
	r.guests = make([]*guest, o.Guests)
	for i := range o.Guests {
		g := newGuest(o, i, image, r.files.Path())
		r.guests[i] = g
		hosts[i] = openssh.Host{Name: g.name, SSH: g.name, Address: g.address}
		booting.Go(func() error { return g.boot(ctx) })
	}
	if err := booting.Wait(); err != nil {
		return err
	}
	config, err := writeConfig(r.files.Path(), r.guests)
	if err != nil {
		return err
	}
	r.Rig, err = openssh.Connect(ctx, openssh.Options{Name: o.Name, Hosts: hosts, Config: config, Shared: true})
	return err
}

// Recover implements rig.Recoverer: a guest that has ended is booted again.
func (r *Rig) Recover(ctx context.Context) error {
	var booting errgroup.Group
	for _, g := range r.guests {
		if g.gone() {
			booting.Go(func() error { return g.boot(ctx) })
		}
	}
	if err := booting.Wait(); err != nil {
		return err
	}
	// A guest that was booted again may listen at another port.
	if _, err := writeConfig(r.files.Path(), r.guests); err != nil {
		return err
	}
	return r.Rig.Recover(ctx)
}

// Close implements rig.Rig: the connections go first, then the guests.
func (r *Rig) Close() error {
	var err error
	if r.Rig != nil {
		err = r.Rig.Close()
	}
	for _, g := range r.guests {
		g.end()
	}
	if r.files != nil {
		err = errors.Join(err, r.files.Close())
		r.files = nil
	}
	return err
}

// Kind is the rig of emulated guests, as users choose it.
var Kind = rig.Kind{Name: "qemu", Form: "qemu[:N][?memory=BYTES&cpus=N]", Options: []string{"memory", "cpus"}, Build: build}

// The bounds of a guest. QEMU's own network joins two of them, and no more.
const (
	maxGuests            = 2
	maxCPUs              = 64
	minMemory, maxMemory = 256 << 20, 1<<31 - 1
)

// build boots one guest, which holds both ends, unless the user counts.
func build(ctx context.Context, c rig.Choice) (rig.Rig, error) {
	const standardMemory, standardCPUs = 1 << 30, 2
	guests, err := c.Count(1)
	if err != nil {
		return nil, err
	}
	if guests < 1 || guests > maxGuests {
		return nil, c.Errorf("%d guests; expected from 1 to %d", guests, maxGuests)
	}
	memory, err := c.Bytes("memory")
	if err != nil {
		return nil, err
	}
	if memory == 0 {
		memory = standardMemory
	}
	if memory < minMemory || memory > maxMemory {
		return nil, c.Errorf("memory=%s; expected from 256MiB to 2047MiB", c.Options["memory"])
	}
	cpus := standardCPUs
	if text, given := c.Options["cpus"]; given {
		if cpus, err = strconv.Atoi(text); err != nil || cpus < 1 || cpus > maxCPUs {
			return nil, c.Errorf("cpus=%s; expected from 1 to %d", text, maxCPUs)
		}
	}
	return Boot(ctx, Options{Name: c.Name, Guests: guests, MemoryBytes: memory, CPUs: cpus})
}
