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
	"netdyno/internal/run/setting"
)

// checkKey refuses what may not be set, or with readable, read.
func checkKey(key string, readable bool) error {
	settable := append(setting.Sysctls(), setting.MTU)
	if slices.Contains(settable, key) || readable && (key == setting.Congestions || key == setting.Interface) {
		return nil
	}
	return fmt.Errorf("hold: unknown setting %q; %s", quantity.Clip(key, 80), quantity.Hint(key, settable))
}

// file is where the kernel keeps a sysctl below a directory.
func file(root, key string) string {
	return filepath.Join(root, strings.ReplaceAll(key, ".", "/"))
}
