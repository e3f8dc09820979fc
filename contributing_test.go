package netdyno_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"netdyno/internal/run/check"
)

// The transport that CONTRIBUTING.md shows compiles in the tree, registered by the
// one line that the page gives, and keeps the worker contract as the page says.
func TestContributingsTransportKeepsTheContract(t *testing.T) {
	section := between(t, textOf(t, "CONTRIBUTING.md"), "\n### In Go\n", "\n### ")
	file := between(t, section, "both ends in one process: `", "`")
	line := between(t, section, "cmd/netdyno-worker-net/main.go`: `", "`")
	said := regexp.MustCompile(`# (\d+) passed, 0 failed, (\d+) not checked`).FindString(section)

	main := textOf(t, "cmd/netdyno-worker-net/main.go")
	for after, insert := range map[string]string{
		"import (\n": fmt.Sprintf("\t%q\n", module+"/"+filepath.Dir(file)), "transports = []load.Transport{\n": "\t" + line + "\n",
	} {
		if strings.Count(main, after) != 1 {
			t.Fatalf("netdyno-worker-net's main.go has %q %d times, expected once", after, strings.Count(main, after))
		}
		main = strings.Replace(main, after, after+insert, 1)
	}
	program := build(t, map[string]string{
		file: strings.Join(goBlocks(section), "\n"), "cmd/netdyno-worker-net/main.go": main,
	}, "./cmd/netdyno-worker-net")

	outcomes, err := check.Run(t.Context(), []string{program}, check.Options{Transports: []string{"pipe"}, Stretch: 5})
	if err != nil {
		t.Fatal(err)
	}
	passed, skipped := 0, 0
	for _, o := range outcomes {
		switch {
		case o.Pass:
			passed++
		case o.Skipped:
			skipped++
		default:
			t.Errorf("%s: %s", o.Case, o.Text)
		}
	}
	if got := fmt.Sprintf("# %d passed, 0 failed, %d not checked", passed, skipped); got != said {
		t.Errorf("the page says %q, netdyno check %q", said, got)
	}
}

// build builds a program with some files of the tree replaced or added, and
// returns its path.
func build(t *testing.T, files map[string]string, program string) string {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for name, text := range files {
		at := filepath.Join(t.TempDir(), filepath.Base(name))
		writeFile(t, at, []byte(text))
		overlay.Replace[filepath.Join(here, name)] = at
	}
	described, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(t.TempDir(), "overlay.json")
	writeFile(t, at, described)
	out := filepath.Join(t.TempDir(), filepath.Base(program))
	if said, err := exec.Command("go", "build", "-overlay", at, "-o", out, program).CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	return out
}

// goBlocks returns the blocks of Go code in a text.
func goBlocks(text string) (blocks []string) {
	for _, block := range strings.Split(text, "\n```go\n")[1:] {
		code, _, _ := strings.Cut(block, "\n```")
		blocks = append(blocks, code+"\n")
	}
	return blocks
}

func between(t *testing.T, text, before, after string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, before)
	inside, _, ends := strings.Cut(rest, after)
	if !found || !ends {
		t.Fatalf("CONTRIBUTING.md has nothing between %q and %q", before, after)
	}
	return inside
}

func textOf(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func writeFile(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
