package child

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Directory makes a directory for temporary files of a program, which its owner alone may read,
// and removes those of this user that processes left which were killed. The caller removes it.
func Directory(program string) (string, error) {
	// Processes of other namespaces have numbers of their own.
	space, err := os.Readlink("/proc/self/ns/pid") // "pid:[4026531836]"
	if err != nil {
		return "", err
	}
	prefix := fmt.Sprintf("netdyno-%s-%s-", program, strings.Trim(space, "pid:[]"))
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, path := range left {
		number, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), prefix), "-")
		pid, err := strconv.Atoi(number)
		if err != nil || !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			continue
		}
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && int(owner.Uid) == os.Geteuid() {
			_ = os.RemoveAll(path) // another process may be doing it
		}
	}
	return os.MkdirTemp("", prefix+strconv.Itoa(os.Getpid())+"-")
}
