package owned_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/run/owned"
)

// What is private is kept in the first place that can be used, and never in one that
// others may have written to.
func TestPrivatePlaces(t *testing.T) {
	runtime, temporary := t.TempDir(), t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	t.Setenv("TMPDIR", temporary)
	t.Setenv("XDG_CACHE_HOME", "")
	file := filepath.Join(t.TempDir(), "file")
	open := t.TempDir()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(open, ".cache/netdyno/secret"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(open, ".cache/netdyno"), 0o777); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for want, homes := range map[string][]string{
		home + "/.cache/netdyno/secret": {home}, runtime + "/netdyno/secret": {"", "relative", file, open},
	} {
		for _, h := range homes {
			t.Setenv("HOME", h)
			got, err := owned.Private("secret")
			if err != nil || got != want {
				t.Errorf("HOME=%s: %s, %v; want %s", h, got, err, want)
			}
			if left, _ := os.ReadDir(got); len(left) > 0 {
				t.Errorf("HOME=%s: %v was left in %s", h, left, got)
			}
		}
	}
}

func TestNoPrivatePlace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR"} {
		t.Setenv(variable, file)
	}
	at := "/dev/shm" // which no variable moves
	if _, err := os.Stat(at); err == nil {
		t.Skip(at + " can be written to here; test/machines takes it away")
	}
	if _, err := owned.Private("secret"); err == nil || !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Errorf("%v", err)
	}
}
