package netdyno_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// aptRoot is an empty root directory for apt, in which this process holds the lock of
// its lists until release is called.
func aptRoot(t *testing.T) (config string, release func()) {
	t.Helper()
	if _, err := exec.LookPath("apt-get"); err != nil {
		t.Skip("no apt-get here")
	}
	root := t.TempDir()
	lists := filepath.Join(root, "var/lib/apt/lists")
	for _, dir := range []string{lists + "/partial", filepath.Join(root, "var/lib/dpkg"), filepath.Join(root, "var/cache/apt/archives/partial"), filepath.Join(root, "etc/apt")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for file, text := range map[string]string{"apt.conf": fmt.Sprintf("Dir %q;\nDir::State::status %q;\n", root+"/", root+"/var/lib/dpkg/status"), "var/lib/dpkg/status": ""} {
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lock, err := os.OpenFile(filepath.Join(lists, "lock"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.FcntlFlock(lock.Fd(), syscall.F_SETLK, &syscall.Flock_t{Type: syscall.F_WRLCK}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	return filepath.Join(root, "apt.conf"), func() { _ = lock.Close() }
}

// A fresh machine in a cloud installs updates by itself: what needs packages waits for
// that with a word, and goes on.
func TestInstallWaitsForAnotherApt(t *testing.T) {
	config, release := aptRoot(t)
	c := exec.CommandContext(t.Context(), ".ci/install", "no-such-package")
	c.Env = append(os.Environ(), "WORDS=", "APT_CONFIG="+config)
	said, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complained strings.Builder
	c.Stderr = &complained
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(said)
	word, err := out.ReadString('\n')
	if want := fmt.Sprintf("waiting for another apt (pid %d) to finish\n", os.Getpid()); word != want || err != nil {
		t.Errorf("it says %q (%v), want %q", word, err, want)
	}
	release()
	rest, _ := io.ReadAll(out) // until it ends
	_ = c.Wait()               // the package is not to be had
	if len(rest) > 0 || !strings.Contains(complained.String(), "no package no-such-package") || strings.Contains(complained.String(), "lock") {
		t.Errorf("after the wait it says %q and %q, want the package's own error", rest, complained.String())
	}
}
