package owned

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatOthersMayWriteIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check := func() error {
		t.Helper()
		info, err := os.Lstat(file)
		if err != nil {
			t.Fatal(err)
		}
		return Check(file, info)
	}
	if err := check(); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(file, 0o620); err != nil {
		t.Fatal(err)
	}
	if err := check(); err == nil || !strings.Contains(err.Error(), "can be written by others") {
		t.Errorf("of a group that may write: %v", err)
	}
	if os.Geteuid() != 0 {
		return // who is not root cannot give a file away
	}
	if err := os.Chown(file, 12345, -1); err != nil {
		t.Fatal(err)
	}
	if err := check(); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("of another user: %v", err)
	}
}
