// Command quick tests what a change can touch, in about ten seconds:
//
//	make quick
//
// A change is what is not committed, else what differs from main, else the last commit.
// Tested are the packages of the changed files, then the packages that import those, the
// nearest first, as far as the time goes: with -short, which leaves out long simulations
// and what starts programs. Packages that were not reached are named: make test-all runs them whole. Of packages
// that run whole programs or wait for a quiet machine only those tests are run that stand
// beside the changed files.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	base := flag.String("base", "", "the commit to differ from")
	seconds := flag.Float64("seconds", 10, "how long importers may be tested; what has changed is tested in any time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *base, time.Duration(*seconds*float64(time.Second)))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quick:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, base string, most time.Duration) error {
	began := time.Now()
	changed, base, err := changes(base)
	if err != nil {
		return err
	}
	packages, err := list()
	if err != nil {
		return err
	}
	own, importers := touched(packages, changed)
	for prefix, target := range map[string]string{"native/": "native-test", "web/": "browser", "workers/gin/": "whole"} {
		if slices.ContainsFunc(changed, func(file string) bool { return strings.HasPrefix(file, prefix) }) {
			fmt.Printf("%s has changed: make %s tests it\n", prefix, target)
		}
	}
	if len(own) == 0 {
		fmt.Printf("no Go package differs from %s\n", base)
		return nil
	}
	var done []string
	var failed error
	for _, o := range own {
		if slow(o) {
			passed, err := beside(ctx, o, changed)
			done, failed = append(done, passed...), errors.Join(failed, err)
		}
	}
	passed, err := test(ctx, slices.DeleteFunc(slices.Clone(own), slow))
	done, failed = append(done, passed...), errors.Join(failed, err)
	near := slices.DeleteFunc(slices.Clone(importers), slow)
	if spare := most - time.Since(began); failed == nil && len(near) > 0 && spare > 0 {
		ctx, cancel := context.WithTimeout(ctx, spare)
		defer cancel()
		passed, failed = test(ctx, near)
		done = append(done, passed...)
		if errors.Is(failed, context.DeadlineExceeded) {
			failed = nil
		}
	}
	left := slices.DeleteFunc(slices.Concat(own, importers), func(p string) bool { return slices.Contains(done, p) })
	fmt.Printf("%d of %d packages that differ from %s or import such, in %.1f s\n", len(done), len(done)+len(left), base, time.Since(began).Seconds())
	if len(left) > 0 {
		fmt.Printf("left to make test-all: %s\n", strings.Join(left, " "))
	}
	return failed
}

// changes lists the files of a change, those that git does not know included, and the
// commit that it differs from.
func changes(base string) (files []string, from string, err error) {
	bases := []string{base}
	if base == "" {
		bases = []string{"HEAD"}
		for _, main := range []string{"main", "origin/main"} {
			if at, err := git("merge-base", "HEAD", main); err == nil {
				bases = append(bases, at[0][:12])
				break
			}
		}
		bases = append(bases, "HEAD~1")
	}
	unknown, err := git("ls-files", "--others", "--exclude-standard")
	if err != nil {
		return nil, "", err
	}
	for _, from = range bases {
		known, err := git("diff", "--name-only", from)
		if files = append(known, unknown...); err != nil || len(files) > 0 {
			return files, from, err
		}
	}
	return nil, from, nil
}

// git returns the lines that git prints.
func git(arguments ...string) ([]string, error) {
	out, err := exec.Command("git", arguments...).Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", strings.Join(arguments, " "), err)
	}
	return strings.Fields(string(out)), nil
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir                    string
	Imports, TestImports, XTestImports []string
}

// list lists the packages of this module, their directories as the module has them.
func list() ([]listed, error) {
	out, err := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	var all []listed
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		if p.Dir, err = filepath.Rel(root, p.Dir); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
}

// touched are the packages to which changed files belong, and those that import them or
// whose tests do, by their distance.
func touched(packages []listed, changed []string) (own, importers []string) {
	known := map[string]string{} // directory → package
	for _, p := range packages {
		known[p.Dir] = p.ImportPath
	}
	for _, file := range changed {
		dir := path.Dir(file)
		for known[dir] == "" && dir != "." { // testdata, assets and what else is embedded
			dir = path.Dir(dir)
		}
		ofRoot := path.Dir(file) == "." && strings.HasSuffix(file, ".go")
		if p := known[dir]; p != "" && !slices.Contains(own, p) && (dir != "." || ofRoot) {
			own = append(own, p)
		}
	}
	for ring := own; len(ring) > 0; {
		var next []string
		for _, p := range packages {
			of := p.ImportPath
			imports := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
			if !slices.Contains(own, of) && !slices.Contains(importers, of) &&
				slices.ContainsFunc(ring, func(r string) bool { return slices.Contains(imports, r) }) {
				next = append(next, of)
			}
		}
		importers, ring = append(importers, next...), next
	}
	return own, importers
}

// slow tells a package that runs programs, or reads the whole tree.
func slow(importPath string) bool {
	for _, prefix := range []string{"netdyno/cmd/", "netdyno/test/", "netdyno/peers", "netdyno/truth"} {
		if strings.HasPrefix(importPath, prefix) {
			return true
		}
	}
	return importPath == "netdyno"
}

// tests finds the tests of a file.
var tests = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// beside runs the tests that stand beside a slow package's changed files: those of x_test.go
// where x.go or itself has changed.
func beside(ctx context.Context, importPath string, changed []string) (passed []string, err error) {
	var names []string
	for _, file := range changed {
		name, isGo := strings.CutSuffix(strings.TrimSuffix(file, "_test.go"), ".go")
		if dir := strings.TrimPrefix(importPath, "netdyno"); path.Dir(file) != cmp.Or(strings.TrimPrefix(dir, "/"), ".") || !isGo && name == file {
			continue
		}
		text, err := os.ReadFile(name + "_test.go")
		if err != nil {
			continue // it has none of its own
		}
		for _, match := range tests.FindAllStringSubmatch(string(text), -1) {
			names = append(names, match[1])
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	return test(ctx, []string{"-short=false", "-run", "^(" + strings.Join(names, "|") + ")$", importPath})
}

// test tests packages by their short tests, prints what failed, and returns the packages
// that passed. Vet is part of lint.
func test(ctx context.Context, packages []string) (passed []string, err error) {
	if len(packages) == 0 {
		return nil, nil
	}
	c := exec.CommandContext(ctx, "go", append([]string{"test", "-vet=off", "-short"}, packages...)...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // go passes no signal on to the tests that it runs
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGINT) }
	c.WaitDelay = time.Second
	var said bytes.Buffer
	c.Stderr = &said
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) > 1 && (f[0] == "ok" || f[0] == "?") {
			passed = append(passed, f[1])
		} else if ctx.Err() == nil && !strings.Contains(lines.Text(), "coverage: 0.0%") {
			fmt.Println(lines.Text())
		}
	}
	err = c.Wait()
	if ctx.Err() != nil { // what go and its compilers say then is of the interrupt
		return passed, ctx.Err()
	}
	_, _ = os.Stderr.Write(said.Bytes())
	return passed, err
}
