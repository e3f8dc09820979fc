package record

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Who may read a run, the umask says.
func TestModesAreWhatTheUmaskLeaves(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	dir := t.TempDir()
	records, whole := filepath.Join(dir, RecordsFile), filepath.Join(dir, "whole")
	f, err := Create(records, Header{})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := WriteFileAtomic(whole, []byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{records, whole} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o640 {
			t.Errorf("%s has mode %o, want 640", filepath.Base(name), got)
		}
	}
}
