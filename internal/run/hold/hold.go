// Package hold sets settings of a host (sysctls of the network, an interface's MTU) for
// as long as a trial needs them, and puts the former values back, however the trial ends.
//
// On the host a process of netdyno's own holds the settings (host.go). The process sets
// them, prints the former values, waits for the end of its stdin, and puts the former
// values back. So a setting lasts no longer than the run, its ssh connection or its batch
// job, also when one of these is killed. A holder that is itself killed by SIGKILL leaves
// a file (left.go), from which the next holder, or netdyno doctor --put-back, puts the
// former values back. The files lie in /run, which is emptied by a reboot as the settings
// are.
package hold

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"netdyno/internal/quantity"
)

// MTU is the key of the MTU, in bytes, of the interface that has a host's address.
const MTU = "mtu"

// Sysctls may be set: they are of the network, take effect for sockets that are opened
// afterwards, and are found in the doctor's advice or beside it.
var Sysctls = []string{
	"net.ipv4.tcp_congestion_control", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
	"net.core.rmem_max", "net.core.wmem_max", "net.core.busy_poll", "net.core.busy_read",
}

// Interface is the key of the name of the interface that has a host's address, which can
// be read and not set.
const Interface = "interface"

// Congestions names the sysctl that lists what net.ipv4.tcp_congestion_control can be. It
// can be read and not set.
const Congestions = "net.ipv4.tcp_available_congestion_control"

// checkKey refuses what may not be set, or with readable, read.
func checkKey(key string, readable bool) error {
	if key == MTU || slices.Contains(Sysctls, key) || readable && (key == Congestions || key == Interface) {
		return nil
	}
	return fmt.Errorf("hold: unknown setting %q; %s", quantity.Clip(key, 80), quantity.Hint(key, append([]string{MTU}, Sysctls...)))
}

// file is where the kernel keeps a sysctl below a directory.
func file(root, key string) string {
	return filepath.Join(root, strings.ReplaceAll(key, ".", "/"))
}
