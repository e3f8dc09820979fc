// Package owned guards what netdyno keeps between runs: nobody else may have written it.
package owned

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Check refuses what belongs to another user, or what others can write to. What info is of
// is the caller's to check: one of os.Lstat is of a link itself.
func Check(path string, info fs.FileInfo) error {
	owner, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || int(owner.Uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to another user", path)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s can be written by others; expected mode 0700", path)
	}
	return nil
}
