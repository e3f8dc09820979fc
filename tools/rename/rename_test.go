package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// In a copy of the module under another path its programs build, and nothing names the old.
func TestARenamedModuleBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles the whole module")
	}
	dir := t.TempDir()
	do := func(in string, words ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), words[0], words[1:]...)
		c.Dir = in
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", strings.Join(words, " "), err, out)
		}
		return string(out)
	}
	do("../..", "sh", "-c", `git ls-files -z | tar --null -T - --ignore-failed-read -cf - | tar -xf - -C "$0" && git -C "$0" init -q && git -C "$0" add .`, dir)
	rename := filepath.Join(t.TempDir(), "rename")
	do(".", "go", "build", "-o", rename, ".")
	const path = "example.org/owner/netdyno"
	do(dir, rename, path)
	do(dir, "go", "build", "-o", filepath.Join(dir, "bin")+string(os.PathSeparator), "./cmd/netdyno-host")
	do(dir, "go", "vet", ".", "./internal/quantity", "./internal/read/profile", "./tools/quick")
	do(filepath.Join(dir, "workers/gin"), "go", "list", "-deps", "./...")
	if out := do(dir, "go", "list", "-deps", "./..."); strings.Contains("\n"+out, "\nnetdyno") || !strings.Contains(out, path+"/internal/quantity") {
		t.Errorf("the packages are not all of %s: %.300s", path, out)
	}
	if out := do(dir, filepath.Join(dir, "bin/netdyno-host"), "--help"); !strings.Contains(out, "netdyno-host") {
		t.Errorf("the program says %q", out)
	}
}

func TestAPathThatGoInstallRefusesIsNamed(t *testing.T) {
	for _, bad := range []string{"netdyno", "owner/netdyno", "https://example.org/netdyno", "example.org/ net"} {
		if err := rename(bad); err == nil || !strings.Contains(err.Error(), "HOST/OWNER/NAME") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
