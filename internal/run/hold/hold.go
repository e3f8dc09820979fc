// Package hold sets settings of a host for as long as a trial needs them, and puts them
// back, however that ends: sysctls of the network, and the MTU of an interface.
//
// On the host a process of netdyno's own holds them (host.go). It sets them, says what
// stood there before, and waits for the end of its stdin; then it puts back what stood
// there. So what is set lasts no longer than the run, its ssh connection or its batch
// job, also when that is killed. What the holder cannot survive itself, its own SIGKILL,
// leaves a file (left.go) from which the next holder, or netdyno doctor --put-back, puts
// everything back. These files lie in /run, which lasts as long as the settings do.
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
