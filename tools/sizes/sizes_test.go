package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// This test's own program is one: mostly the standard library's code, and some of ours.
func TestAProgramIsTakenApart(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p, err := read(self)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.modules) < 2 || p.modules[0].name != "std" || p.code == 0 || p.tables == 0 || p.code+p.tables+p.constants+p.data > p.size {
		t.Errorf("it is %+v", p)
	}
	var sum int64
	for _, m := range p.modules {
		sum += m.code
	}
	if sum > p.code || sum < p.code/2 {
		t.Errorf("its functions have %d bytes, its code %d", sum, p.code)
	}
	directory := t.TempDir()
	var out strings.Builder
	if err := run(directory, &out); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("an empty directory: %v", err)
	}
	if err := os.Symlink(self, filepath.Join(directory, "netdyno-self")); err != nil {
		t.Fatal(err)
	}
	if err := run(directory, &out); err != nil || !strings.Contains(out.String(), "| `netdyno-self` |") || !strings.Contains(out.String(), "| all 1 |") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestAPagesTableIsWrittenAnew(t *testing.T) {
	page := filepath.Join(t.TempDir(), "sizes.md")
	for _, c := range []struct{ text, want string }{
		{"before\n\n| program | MB | old |\n| a | 1 |\n\nafter\n", "before\n\n| program | MB | new\n\nafter\n"},
		{"| program | MB | old |\n", "| program | MB | new\n"},
	} {
		if err := os.WriteFile(page, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := enter(page, "| program | MB | new\n"); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(page); err != nil || string(got) != c.want {
			t.Errorf("%q became %q, %v; want %q", c.text, got, err, c.want)
		}
	}
	if err := os.WriteFile(page, []byte("no table"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := enter(page, "x"); err == nil {
		t.Error("a page without a table is written to")
	}
}

func TestModules(t *testing.T) {
	known := []string{"netdyno", "google.golang.org/grpc", "gopkg.in/yaml.v3", "google.golang.org/grpc/stats"}
	for function, want := range map[string]string{
		"runtime.mallocgc": "std", "net/http.(*Server).Serve": "std", "netdyno/internal/hist.New": "netdyno", "netdynoother.F": "std",
		"google.golang.org/grpc.Dial": "google.golang.org/grpc", "google.golang.org/grpc/stats.X": "google.golang.org/grpc/stats",
		"gopkg.in/yaml%2ev3.Unmarshal": "gopkg.in/yaml.v3",
	} {
		if got := moduleOf(function, known); got != want {
			t.Errorf("%s is of %s, want %s", function, got, want)
		}
	}
}

func TestAFunctionOfCPPHasANamespace(t *testing.T) {
	for function, want := range map[string]string{
		"_ZN7netdyno4Load5startEl":                           "netdyno",
		"_ZNK8nlohmann10json_abi_v3_11_210basic_jsonE4dumpE": "nlohmann",
		"_ZZN7netdyno6engineEvENKUlvE_clEv":                  "netdyno",
		"_ZNSt6vectorIN7netdyno4PortEE9push_backEv":          "std",
		"_Zli3_msPKcm":          "std",
		"llhttp__internal__run": "llhttp",
		"main":                  "main",
		"_ZN99short":            "std",
	} {
		if got := namespaceOf(function); got != want {
			t.Errorf("%s is of %q, want %q", function, got, want)
		}
	}
}
