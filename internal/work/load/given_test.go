package load

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestATextMayNameAFile(t *testing.T) {
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "body"), filepath.Join(dir, "pipe")
	if err := os.WriteFile(file, []byte("a\n\x00\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want, fails string }{
		{"", "", ""},
		{"plain", "plain", ""},
		{"a@b", "a@b", ""},
		{"@@home", "@home", ""},
		{"@" + file, "a\n\x00\xff", ""},
		{"@" + dir, "", "no regular file"},
		{"@" + pipe, "", "no regular file"},
		{"@" + file + "x", "", "no such file"},
	} {
		got, err := Options{"body": c.text}.Given("body", 4)
		if got != c.want || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%q gives %q, %v", c.text, got, err)
		}
	}
	if _, err := (Options{"body": "@" + file}).Given("body", 3); err == nil || !strings.Contains(err.Error(), "more than 3 bytes") {
		t.Errorf("a file beyond the bound: %v", err)
	}
}
