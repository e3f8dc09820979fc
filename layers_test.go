// Package netdyno_test holds the whole tree to what its documents promise.
package netdyno_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const module = "netdyno"

// listed is what go list tells of a package. Deps are all that it imports, directly or not.
type listed struct {
	ImportPath                      string
	Deps, TestImports, XTestImports []string
}

func TestPartsStayApart(t *testing.T) {
	packages := list(t)
	if len(packages) < 100 {
		t.Fatalf("go list names only %d packages", len(packages))
	}
	for _, p := range packages {
		for _, complaint := range complaints(p) {
			t.Error(complaint)
		}
	}
}

// The rule itself must be able to fail.
func TestViolationsAreFound(t *testing.T) {
	for _, c := range []struct {
		of, imports string
		found       int
	}{
		{"internal/work/transport/gonet", "internal/work/wire", 0},
		{"internal/read/report", "internal/record", 0},
		{"internal/run/session", "internal/read/finding", 1},
		{"internal/read/stat", "internal/run/rig", 1},
		{"internal/work/load", "internal/run/rig", 1},
		{"cmd/netdyno", "internal/run/bench", 0},
		{"cmd/netdyno", "internal/work/load", 1},
		{"cmd/netdyno-worker-net", "internal/work/load", 0},
		{"cmd/netdyno-worker-net", "internal/run/rig", 1},
	} {
		imported := []string{module + "/" + c.imports}
		for _, p := range []listed{{Deps: imported}, {XTestImports: imported}} {
			p.ImportPath = module + "/" + c.of
			want := c.found
			if p.Deps == nil && strings.HasPrefix(c.of, "cmd/") {
				want = 0 // a program's tests may be of several parts
			}
			if got := complaints(p); len(got) != want {
				t.Errorf("%+v: %q, want %d complaints", p, got, want)
			}
		}
	}
}

// complaints says what a package imports that it may not: RUN, WORK and READ never import
// each other, tests included; netdyno holds no transport, and a worker nothing else.
func complaints(p listed) (out []string) {
	here := part(p.ImportPath)
	program, is := strings.CutPrefix(p.ImportPath, module+"/cmd/")
	for _, imported := range p.Deps {
		there := part(imported)
		switch {
		case there == "":
		case here != "" && here != there:
			out = append(out, p.ImportPath+" may not import "+imported+": parts never import each other")
		case is && !strings.HasPrefix(program, "netdyno-worker-") == (there == "work"):
			out = append(out, p.ImportPath+" may not import "+imported+": a worker holds transports and nothing else, and no other program one")
		}
	}
	for _, imported := range append(p.TestImports, p.XTestImports...) {
		if there := part(imported); here != "" && there != "" && here != there {
			out = append(out, "a test of "+p.ImportPath+" may not import "+imported+": parts never import each other")
		}
	}
	return out
}

// part returns "run", "work" or "read"; "" for what lies outside the parts.
func part(path string) string {
	name, inside := strings.CutPrefix(path, module+"/internal/")
	if first, _, _ := strings.Cut(name, "/"); inside && (first == "run" || first == "work" || first == "read") {
		return first
	}
	return ""
}

func list(t *testing.T) []listed {
	t.Helper()
	command := exec.Command("go", "list", "-json=ImportPath,Deps,TestImports,XTestImports", "./...")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("read go list: %v", err)
		}
		packages = append(packages, p)
	}
}
