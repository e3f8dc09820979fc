package kit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"netdyno/internal/run/check/checktest"
)

// The README's worker compiles in a module outside the tree, whose go.mod replaces
// netdyno by this checkout, and keeps the contract.
func TestREADMEsWorkerInAModuleOfItsOwn(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	worker := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(string(readme))
	if worker == nil {
		t.Fatal("README.md has no block of Go")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ours, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	// What go mod tidy would find out by the network.
	mod := strings.Replace(string(ours), "module netdyno\n", "module example.org/mine\n", 1) +
		"\nrequire netdyno v0.0.0\n\nreplace netdyno => " + root + "\n"
	for name, text := range map[string]string{"main.go": worker[1], "go.mod": mod, "go.sum": string(sums)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(dir, "netdyno-worker-mine")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checktest.Passes(t, program, 39)
}
