package qemu

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"netdyno/internal/run/rig"
)

// Files in the rig's directory, which the guests see: they are no strangers to this
// host, whose files are theirs to read.
const (
	clientKey  = "key"      // ours, by which guests let us in
	allowed    = "key.pub"  // what a guest lets in
	guestKey   = "host-key" // by which we know a guest, in dropbear's form
	knownHosts = "known-hosts"
	configFile = "config"
)

// makeKeys makes this run's keys: guests let in nobody else, and we let nobody else
// pass for a guest.
func makeKeys(ctx context.Context, directory string) error {
	here := rig.Host{Name: "this host"}
	at := func(name string) string { return filepath.Join(directory, name) }
	if _, err := here.Ask(ctx, nil, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "netdyno", "-f", at(clientKey)); err != nil {
		return err
	}
	said, err := here.Ask(ctx, nil, "dropbearkey", "-t", "ed25519", "-f", at(guestKey))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(said)) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "ssh-ed25519" {
			return os.WriteFile(at(knownHosts), fmt.Appendf(nil, "guest %s %s\n", fields[0], fields[1]), 0o600)
		}
	}
	return fmt.Errorf("make a guest's key: dropbearkey printed no line of type ssh-ed25519, but %.200q", said)
}

// writeConfig writes ssh's configuration and returns its name.
func writeConfig(directory string, guests []*guest) (string, error) {
	var text strings.Builder
	for _, g := range guests {
		fmt.Fprintf(&text, "Host %s\n  HostName 127.0.0.1\n  Port %d\n", g.name, g.port)
	}
	fmt.Fprintf(&text, `Host *
  User root
  HostKeyAlias guest
  IdentityFile %q
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile %q
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
`, filepath.Join(directory, clientKey), filepath.Join(directory, knownHosts))
	file := filepath.Join(directory, configFile)
	return file, os.WriteFile(file, []byte(text.String()), 0o600)
}
