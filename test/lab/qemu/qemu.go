// Package qemu is a guest that QEMU emulates on this host, with a device for RDMA in
// software (Soft-RoCE) on its data network: where verbs can be run without a card, and on a
// host whose kernel has none. make test-rdma runs in it.
//
// The guest's kernel comes from Debian's package, unpacked and not installed. Its files are
// this host's, read-only, under a layer of the guest's own memory: every program of this host
// runs there at the same path, and nothing it writes is left. It is reached by ssh, by which
// rig ssh reaches it too.
//
// The files: image.go builds the kernel and the first files of a guest (package.go,
// modules.go); guest.go is the guest's process, and the keys by which it is reached.
package qemu

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"netdyno/internal/run/rig"
)

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

// Guest is a guest that runs.
type Guest struct {
	*guest
	config string
}

// Boot starts a guest whose keys and configuration of ssh lie in a directory, which the caller
// removes. The first time, it downloads the guest's kernel.
func Boot(ctx context.Context, directory string) (*Guest, error) {
	for _, need := range needs {
		if _, err := exec.LookPath(need.program); err != nil {
			return nil, fmt.Errorf("%s is not installed: sudo apt-get install %s", need.program, need.debian)
		}
	}
	image, err := findImage(ctx)
	if err != nil {
		return nil, fmt.Errorf("build the guest: %w", err)
	}
	if err := makeKeys(ctx, directory); err != nil {
		return nil, err
	}
	g := &Guest{guest: &guest{image: image, files: directory}}
	if err := g.boot(ctx); err != nil {
		return nil, err
	}
	if g.config, err = writeConfig(directory, g.port); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// Rig is what netdyno is given as --rig to run in the guest, which has both ends.
func (g *Guest) Rig() string { return "ssh:" + name + "=" + address + "?config=" + g.config }

// Ask runs a command in the guest and returns what it prints.
func (g *Guest) Ask(ctx context.Context, argv ...string) ([]byte, error) {
	h := rig.Host{Name: name, Shell: true, Prefix: []string{"ssh", "-T", "-o", "BatchMode=yes", "-F", g.config, name}}
	return h.Ask(ctx, nil, argv...)
}

// Close ends the guest.
func (g *Guest) Close() error {
	g.end()
	return nil
}
