package rig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// host unpacks a machine's files, from "== PATH" to the next, under a
// directory of the test's.
func host(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	for _, section := range strings.Split(string(text), "\n== ")[1:] {
		head, body, _ := strings.Cut(section+"\n", "\n")
		file, target, isLink := strings.Cut(head, " -> ")
		path := filepath.Join(root, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if isLink {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(body), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}
