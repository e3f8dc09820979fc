package child

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestDirectoriesOfKilledProcessesAreRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	own, err := Directory("tool")
	if err != nil {
		t.Fatal(err)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	left := strings.Replace(own, "-"+strconv.Itoa(os.Getpid())+"-", "-"+strconv.Itoa(gone.Process.Pid)+"-", 1)
	if err := os.MkdirAll(filepath.Join(left, "within"), 0o700); err != nil {
		t.Fatal(err)
	}
	again, err := Directory("tool")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("%s is still there: %v", left, err)
	}
	for _, path := range []string{own, again} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if os.Geteuid() != 0 {
		return // who is not root cannot give a directory away
	}
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(left, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := Directory("tool"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Errorf("another user's was removed: %v", err)
	}
}
