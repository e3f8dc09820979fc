package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAtReadsTheFileOfAuthorities(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: "holds no certificate", file + ".absent": "no such file"} {
		if _, err := readAuthorities(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error that says %q", path, err, want)
		}
	}
	if text, err := readAuthorities(t.Context(), ""); err != nil || text != "" {
		t.Errorf("no file gives %q (%v), want nothing", text, err)
	}
}
