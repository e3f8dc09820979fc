// Package netdyno_test executes what DESIGN.md says of the whole tree: which
// package may import which, and how long a file may be.
package netdyno_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layers is the import table: what each package may import of
// this module, both without the module's name. A name that ends in /* stands
// for every package directly under it; a package without a line is refused,
// so that a new one is given its place on purpose.
var layers = map[string][]string{
	"internal/each":        {},
	"internal/quantity":    {},
	"internal/hist":        {},
	"internal/read/stat":   {},
	"internal/run/cpuset":  {},
	"internal/run/setting": {},
	"internal/run/ended":   {},
	"internal/run/owned":   {},
	"internal/printable":   {},
	"internal/sources":     {},
	"internal/input":       {},
	"internal/procstat":    {},
	"internal/tcpinfo":     {},
	"internal/udpinfo":     {},
	"internal/head":        {},
	"internal/expect":      {"internal/quantity"},
	"internal/unixsocket":  {"internal/quantity"},
	"internal/paths":       {"internal/quantity"},
	"studies":              {},
	"internal/values":      {"internal/quantity"},
	"internal/traffic":     {},

	"internal/contract":  {"internal/quantity", "internal/hist"},
	"internal/draw":      {"internal/contract"},
	"internal/sizes":     {"internal/contract", "internal/draw", "internal/quantity"},
	"internal/arrivals":  {"internal/contract", "internal/draw", "internal/quantity"},
	"internal/plainjson": {}, // JSON as encoding/json writes it
	"internal/record":    {"internal/contract", "internal/quantity", "internal/each", "internal/hist", "internal/input", "internal/plainjson"},

	"internal/steady": {"internal/contract", "internal/record"},
	"internal/metric": {"internal/contract", "internal/record", "internal/quantity", "internal/hist", "internal/plainjson"},

	"internal/run/study":           run("internal/arrivals", "internal/sizes", "internal/steady"),
	"internal/run/study/source":    run("internal/sizes", "internal/run/study", "internal/run/workload", "studies"),
	"internal/run/workload":        run("internal/draw", "internal/run/study", "internal/traffic"),
	"internal/run/curl":            run("internal/head"),
	"internal/run/tune":            run(),
	"internal/run/recorded":        run("internal/printable", "internal/traffic"),
	"internal/run/suggest":         run("internal/run/study", "internal/run/study/source"),
	"internal/run/rig":             run("internal/procstat", "internal/run/ended"),
	"internal/run/rig/relay":       {"internal/each", "internal/hist"},
	"internal/run/rig/namespaces":  run("internal/run/rig", "internal/run/rig/relay"),
	"internal/run/rig/containers":  run("internal/run/rig"),
	"internal/run/rig/remote":      run("internal/run/rig"),
	"internal/run/rig/openssh":     run("internal/run/rig", "internal/run/rig/remote"),
	"internal/run/rig/slurm":       run("internal/run/rig", "internal/run/rig/remote"),
	"internal/run/rig/qemu":        run("internal/run/rig", "internal/run/rig/openssh", "internal/run/rig/remote", "internal/printable"),
	"internal/run/rig/pods/talk":   {},
	"internal/run/rig/pods":        run("internal/run/rig", "internal/run/rig/pods/talk", "internal/run/rig/remote", "internal/printable"),
	"internal/run/rig/arrange":     run("internal/run/rig", "internal/run/rig/*"),
	"internal/run/doctor":          run(),
	"internal/run/meter":           run("internal/run/ended", "internal/run/meter/beat", "internal/run/meter/serving", "internal/run/meter/usage", "internal/run/meter/sampling", "internal/tcpinfo", "internal/udpinfo", "internal/unixsocket"),
	"internal/run/meter/beat":      run("internal/run/meter/usage"),
	"internal/run/meter/sampling":  run("internal/printable"),
	"internal/run/meter/serving":   run("internal/run/meter/usage", "internal/tcpinfo", "internal/unixsocket"),
	"internal/run/meter/cgroup":    run(),
	"internal/run/meter/usage":     run("internal/procstat", "internal/run/meter/cgroup", "internal/tcpinfo"),
	"internal/run/identity":        {"internal/contract"},
	"internal/run/check":           run("internal/draw", "internal/traffic", "internal/run/rig", "internal/run/identity"),
	"internal/run/check/checktest": run("internal/run/check", "test/programs"),
	"internal/run/message":         run("internal/values"),
	"internal/run/spoken":          {"internal/unixsocket"},
	"internal/run/target":          run("internal/run/spoken", "internal/printable", "internal/expect", "internal/unixsocket", "internal/head", "internal/paths", "internal/tcpinfo", "internal/run/message", "internal/run/study", "internal/values"),
	"internal/run/generate":        run("internal/run/owned"),
	"internal/run/floor":           run("internal/run/rig"),
	"internal/run/hold":            run("internal/run/rig"),
	"internal/run/bench":           run("internal/run/hold", "internal/run/owned", "internal/run/rig", "internal/run/spoken", "internal/run/study", "internal/run/identity", "internal/steady"),
	"internal/run/bench/benchtest": run("internal/run/bench", "internal/run/session", "test/programs"),

	// A run's life; judged figures reach it as functions.
	"internal/run/session": run("internal/run/bench", "internal/run/floor", "internal/run/hold", "internal/run/study", "internal/run/study/source", "internal/run/rig", "internal/run/rig/arrange", "internal/run/doctor", "internal/run/message", "internal/run/generate", "internal/run/recorded", "internal/run/workload", "internal/printable", "internal/traffic"),

	"internal/work/load":              {"internal/contract", "internal/draw", "internal/hist", "internal/printable", "internal/traffic"},
	"internal/work/wire":              {"internal/contract", "internal/expect", "internal/unixsocket", "internal/work/load"},
	"internal/work/wire/tlswire":      {"internal/contract", "internal/unixsocket", "internal/work/load", "internal/work/wire"},
	"internal/work/wire/flow":         {"internal/contract", "internal/work/load", "internal/work/wire"},
	"internal/work/wire/httpwire":     {"internal/contract", "internal/quantity", "internal/head", "internal/paths", "internal/work/load", "internal/work/wire", "internal/work/wire/tlswire", "internal/work/codec"},
	"internal/work/wire/nethttp":      {"internal/contract", "internal/head", "internal/work/load", "internal/work/wire", "internal/work/wire/tlswire", "internal/work/wire/httpwire", "internal/work/codec"},
	"internal/work/wire/quicwire":     {"internal/contract", "internal/work/load", "internal/work/wire", "internal/work/wire/tlswire"},
	"internal/work/wire/rpc":          {"internal/contract", "internal/work/load", "internal/work/netdynov1"},
	"internal/work/wire/baidustd":     {},
	"internal/work/wire/baidustd/*":   {},
	"internal/work/netdynov1":         {},
	"internal/work/codec":             {"internal/contract", "internal/quantity", "internal/values", "internal/work/load", "internal/work/netdynov1", "internal/work/codec/own"},
	"internal/work/codec/own":         {},
	"internal/work/said":              {"internal/quantity"},
	"internal/work/child":             {"internal/contract", "internal/procstat", "internal/work/load", "internal/tcpinfo"},
	"internal/work/transport/foreign": {"internal/contract", "internal/unixsocket", "internal/work/load", "internal/work/child", "internal/work/transport/tool"},
	"internal/work/transport/hop":     {"internal/contract", "internal/work/load", "internal/work/child", "internal/work/transport/foreign"},
	"internal/work/transport/tool":    {"internal/contract", "internal/work/load", "internal/work/wire", "internal/work/child", "internal/work/said", "internal/hist", "internal/quantity", "internal/tcpinfo"},
	"internal/work/transport/*":       {"internal/contract", "internal/head", "internal/work/load", "internal/work/wire", "internal/work/wire/tlswire", "internal/work/wire/flow", "internal/work/wire/httpwire", "internal/work/wire/nethttp", "internal/work/wire/quicwire", "internal/work/wire/rpc", "internal/work/wire/baidustd", "internal/work/codec", "internal/work/netdynov1"},
	"internal/work/worker":            {"internal/contract", "internal/quantity", "internal/work/load"},
	"internal/work/worker/workertest": {"internal/contract", "internal/hist", "internal/work/load", "internal/work/worker", "test/loopback"},

	"internal/read/trial":   read("internal/printable", "internal/steady", "internal/plainjson"),
	"internal/read/cells":   read("internal/read/trial"),
	"internal/read/compare": read("internal/read/trial", "internal/read/cells"),
	"internal/read/profile": read("internal/printable", "internal/read/trial", "internal/read/cells", "internal/read/part"),
	"internal/read/part":    read("internal/read/cells", "internal/read/compare"),
	"internal/read/view":    read("internal/steady", "internal/read/trial", "internal/read/cells", "internal/read/compare", "internal/read/part"),

	// Analyses: each is one package, and gives its part of a report.
	"internal/read/best":      analysis(),
	"internal/read/ladder":    analysis("internal/read/profile"),
	"internal/read/mesh":      analysis(),
	"internal/read/race":      analysis(),
	"internal/read/capacity":  analysis(),
	"internal/read/fit":       analysis(),
	"internal/read/reach":     analysis(),
	"internal/read/sizes":     analysis(),
	"internal/read/hops":      analysis("internal/printable"),
	"internal/read/pays":      analysis(),
	"internal/read/cost":      analysis(),
	"internal/read/link":      analysis("internal/read/pays"),
	"internal/read/shape":     analysis(),
	"internal/read/claim":     analysis("internal/read/fit", "internal/read/profile"),
	"internal/read/published": analysis(),

	"internal/read/history": read("internal/read/trial", "internal/read/cells", "internal/read/compare"),
	"internal/read/answer":  read("internal/read/trial", "internal/read/cells", "internal/read/compare", "internal/read/part", "internal/read/best", "internal/read/view"),
	"internal/read/finding": analysis("internal/read/answer", "internal/read/best", "internal/read/profile", "internal/read/history",
		"internal/read/ladder", "internal/read/mesh", "internal/read/race", "internal/read/capacity", "internal/read/fit", "internal/read/hops", "internal/read/reach", "internal/read/sizes", "internal/read/pays", "internal/read/link", "internal/read/cost", "internal/read/shape", "internal/read/claim", "internal/read/published"),
	"internal/read/summary": read("internal/read/cells", "internal/read/compare", "internal/read/finding"),
	"internal/read/follow":  read("internal/input", "internal/printable", "internal/read/cells", "internal/read/compare", "internal/read/finding"),
	"internal/read/serve":   read("internal/printable", "internal/read/follow", "internal/read/finding", "internal/read/history", "internal/read/report"),
	"internal/read/report": {"internal/contract", "internal/record", "internal/metric", "internal/each", "internal/hist", "internal/quantity", "internal/printable",
		"internal/read/trial", "internal/read/cells", "internal/read/compare", "internal/read/profile", "internal/read/part", "internal/read/view", "internal/read/cost", "internal/read/history", "internal/read/answer", "internal/read/best", "internal/read/finding", "internal/read/summary", "internal/read/follow"},
	"internal/read/export": {"internal/contract", "internal/record", "internal/metric", "internal/hist", "internal/quantity", "internal/printable",
		"internal/read/trial", "internal/read/cells", "internal/read/compare", "internal/read/finding", "internal/read/profile"},
	"docs/schema": {}, // the published schemas, as data

	// Programs: the orchestrator never holds a transport, a worker nothing else.
	"kits":           {},
	"kits/cpp":       {},
	"kits/go":        {"internal/contract", "internal/work/load", "internal/work/wire", "internal/work/wire/flow", "internal/work/worker"},
	"cmd/netdyno":    append(slices.Clone(orchestrator), "internal/sizes"),
	"peers":          append(slices.Clone(orchestrator), "internal/read/stat", "test/synthetic", "test/programs", "peers/result"),
	"peers/table":    append(slices.Clone(orchestrator), "internal/read/stat", "peers/result"),
	"peers/result":   {}, // what was measured beside peers, as it is kept
	"tools/pack":     {"internal/contract"},
	"tools/shape":    {},
	"tools/sizes":    {"kits"},
	"tools/quick":    {},
	"peers/first/*":  {}, // servers of somebody's own
	"truth":          append(slices.Clone(orchestrator), "internal/read/stat", "internal/arrivals", "internal/draw", "internal/sizes", "internal/work/load", "test/synthetic", "test/truth", "test/limits"),
	"test/programs":  {},                                                                                                // the programs that tests and benchmarks run
	"test/loopback":  {},                                                                                                // servers of tests
	"test/kept":      {},                                                                                                // files of testdata, unpacked
	"test/synthetic": {"internal/contract", "internal/record", "internal/metric", "internal/hist", "internal/quantity"}, // records of studies that were never run
	"test/lab":       {},                                                                                                // hosts, for the tests of rigs: of third parties only
	"test/shop":      {},                                                                                                // a gRPC service of a third party
	"test/trials":    append(slices.Clone(orchestrator), "internal/run/bench/benchtest"),
	"test/*":         append(slices.Clone(orchestrator), "test/lab", "test/programs", "test/shop"),
	"test/mesh":      append(slices.Clone(orchestrator), "test/programs", "internal/run/bench/benchtest"),
	"test/answers":   append(slices.Clone(orchestrator), "test/synthetic", "test/kept"),
	"cmd/*":          {"internal/work/load", "internal/work/codec", "internal/work/transport/*", "internal/work/worker"},

	"test/answers/record": {"internal/record"}, // runs the studies of which test/answers keeps records
}

// run is what every package of part RUN may import, and more.
func run(more ...string) []string {
	return append([]string{"internal/contract", "internal/record", "internal/metric", "internal/quantity", "internal/each", "internal/hist", "internal/input", "internal/run/cpuset", "internal/run/setting"}, more...)
}

// read is what every judging package of READ may import, and more.
func read(more ...string) []string {
	return append([]string{"internal/contract", "internal/record", "internal/metric", "internal/quantity", "internal/hist", "internal/read/stat"}, more...)
}

// analysis is what a package may import that reads a run for an answer of its own, and more.
func analysis(more ...string) []string {
	return read(append([]string{"internal/read/trial", "internal/read/cells", "internal/read/compare", "internal/read/part", "internal/read/view"}, more...)...)
}

var orchestrator = []string{
	"internal/contract", "internal/record", "internal/metric", "internal/quantity", "internal/each", "internal/head", "internal/hist", "internal/input", "internal/printable", "internal/sizes", "studies",
	"internal/run/*", "internal/read/trial", "internal/read/cells", "internal/read/compare", "internal/read/view", "internal/read/cost", "internal/read/history",
	"internal/read/profile", "internal/read/race", "internal/read/capacity", "internal/read/claim", "internal/read/finding", "internal/read/summary", "internal/read/report", "internal/read/export", "internal/read/follow", "internal/read/serve", "docs/schema",
}

// foreign are imports from outside the module that a layer must not have: a
// report computes nothing, statistics know no socket and no file.
var foreign = map[string][]string{
	"internal/read/report": {"math", "gonum.org/*"},
	"internal/read/stat":   {"net", "os", "time"},
}

const module = "netdyno"

// listed is what go list tells of a package.
type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func TestImportsFollowTheTable(t *testing.T) {
	packages := list(t)
	if len(packages) < 20 {
		t.Fatalf("go list names %d packages; the table has %d lines", len(packages), len(layers))
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
		want        string // part of the complaint; "" for none
	}{
		{"internal/work/transport/gonet", "internal/work/wire", ""},
		{"internal/work/transport/gonet", "internal/work/transport/goepoll", "may not import"},
		{"cmd/netdyno", "internal/work/load", "may not import"},
		{"cmd/netdyno", "internal/run/bench", ""},
		{"cmd/netdyno-worker-net", "internal/run/rig", "may not import"},
		{"internal/run/bench", "internal/read/finding", "may not import"},
		{"internal/run/session", "internal/read/finding", "may not import"},
		{"internal/run/bench", "internal/run/session", "may not import"},
		{"internal/run/rig", "internal/run/study", "may not import"},
		{"internal/hist", "internal/quantity", "may not import"},
		{"internal/read/report", "internal/read/stat", "may not import"},
		{"internal/read/trial", "internal/read/cells", "may not import"},
		{"internal/read/view", "internal/read/history", "may not import"},
		{"internal/read/report", "!math", "may not import"},
		{"internal/read/report", "!gonum.org/v1/gonum/stat", "may not import"},
		{"internal/invented", "internal/contract", "has no line"},
	} {
		imported, outside := strings.CutPrefix(c.imports, "!")
		if !outside {
			imported = module + "/" + imported
		}
		got := strings.Join(complaints(listed{ImportPath: module + "/" + c.of, Imports: []string{imported}}), "; ")
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s imports %s: complaint %q, want %q", c.of, c.imports, got, c.want)
		}
	}
	test := listed{ImportPath: module + "/internal/read/stat", XTestImports: []string{module + "/internal/run/rig"}}
	if got := complaints(test); len(got) != 1 {
		t.Errorf("a test of part READ imports part RUN: complaints %q, want one", got)
	}
}

func list(t *testing.T) []listed {
	t.Helper()
	command := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...")
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

// complaints says what a package imports against the table. Tests may reach
// further within their part and to the interfaces, but into no other part.
func complaints(p listed) []string {
	of, inside := strings.CutPrefix(p.ImportPath, module+"/")
	if !inside {
		return nil // this package
	}
	may, known := lineOf(of)
	if !known {
		return []string{fmt.Sprintf("%s has no line in the import table of layers_test.go", of)}
	}
	var out []string
	for _, imported := range p.Imports {
		sibling, ours := strings.CutPrefix(imported, module+"/")
		if ours && !matches(sibling, may) || !ours && matches(imported, foreign[of]) {
			out = append(out, fmt.Sprintf("%s may not import %s (layers_test.go)", of, imported))
		}
	}
	for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
		if here, there := part(of), part(strings.TrimPrefix(imported, module+"/")); here != "" && there != "" && here != there {
			out = append(out, fmt.Sprintf("a test of %s may not import %s: parts never import each other", of, imported))
		}
	}
	return out
}

// lineOf returns a package's line; its own before that of its directory.
func lineOf(name string) (may []string, known bool) {
	if may, known = layers[name]; !known {
		may, known = layers[path.Dir(name)+"/*"]
	}
	return may, known
}

func matches(name string, patterns []string) bool {
	for _, p := range patterns {
		if prefix, all := strings.CutSuffix(p, "/*"); name == p || all && strings.HasPrefix(name, prefix+"/") {
			return true
		}
	}
	return false
}

// part returns "run", "work" or "read"; "" for what lies outside the parts.
func part(name string) string {
	for _, r := range []string{"run", "work", "read"} {
		if strings.HasPrefix(name, "internal/"+r+"/") {
			return r
		}
	}
	return ""
}

// The sizes of CONTRIBUTING.md, in lines: above the first a file explains
// itself, above the second it is refused.
const (
	longFile    = 400
	tooLongFile = 600
)

func TestFilesAreShort(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") ||
			slices.Contains([]string{"bin", "build", "node_modules", "results", "testdata", "vectors"}, entry.Name())):
			return fs.SkipDir
		case entry.IsDir() || !measured(name):
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		seen++
		switch lines := bytes.Count(text, []byte("\n")); {
		case lines > tooLongFile:
			t.Errorf("%s has %d lines, at most %d are allowed: it holds two things", name, lines, tooLongFile)
		case lines > longFile:
			t.Logf("%s has %d lines; its head should say why it is not two files", name, lines)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 100 {
		t.Errorf("only %d source files were found below %s", seen, ".")
	}
}

// measured tells source files from tests and other text.
func measured(name string) bool {
	extension := path.Ext(name)
	stem := strings.TrimSuffix(path.Base(name), extension)
	return slices.Contains([]string{".go", ".cc", ".h", ".ts"}, extension) && !strings.HasSuffix(stem, "_test")
}

func TestTestsAreNotMeasured(t *testing.T) {
	for name, want := range map[string]bool{
		"internal/hist/hist.go": true, "native/kit/load.h": true, "native/kit/load.cc": true, "web/src/page.ts": true,
		"internal/hist/hist_test.go": false, "native/test/load_test.cc": false, "README.md": false, "web/package-lock.json": false,
	} {
		if measured(name) != want {
			t.Errorf("measured(%q) = %v, want %v", name, !want, want)
		}
	}
}
