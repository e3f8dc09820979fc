// Command quick tests what a change can touch, in about ten seconds:
//
//	make quick
//
// These are the packages that differ from main (on main itself from the last commit), and
// after them those that import them, the nearest first, as far as the time goes. What is
// left is named: make test runs it. Packages that run whole programs or wait for a quiet
// machine are left to make test too, unless they have changed themselves.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	base := flag.String("base", "", "the commit to differ from; main's where there is one")
	seconds := flag.Float64("seconds", 10, "how long importers may be tested; what has changed is tested whole")
	flag.Parse()
	if err := run(*base, time.Duration(*seconds*float64(time.Second))); err != nil {
		fmt.Fprintln(os.Stderr, "quick:", err)
		os.Exit(1)
	}
}

func run(base string, most time.Duration) error {
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
	for prefix, target := range map[string]string{"native/": "native-test", "web/": "web-test", "workers/gin/": "unit"} {
		if slices.ContainsFunc(changed, func(file string) bool { return strings.HasPrefix(file, prefix) }) {
			fmt.Printf("%s has changed: make %s tests it\n", prefix, target)
		}
	}
	if len(own) == 0 {
		fmt.Printf("no Go package differs from %s\n", base)
		return nil
	}
	done, failed := test(context.Background(), own)
	near := slices.DeleteFunc(slices.Clone(importers), slow)
	if spare := most - time.Since(began); failed == nil && len(near) > 0 && spare > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), spare)
		defer cancel()
		var more []string
		more, failed = test(ctx, near)
		done = append(done, more...)
		if ctx.Err() != nil && errors.Is(failed, context.DeadlineExceeded) {
			failed = nil
		}
	}
	left := slices.DeleteFunc(importers, func(p string) bool { return slices.Contains(done, p) })
	fmt.Printf("%d of %d packages that differ from %s or import such, in %.1f s\n", len(done), len(done)+len(left), base, time.Since(began).Seconds())
	if len(left) > 0 {
		fmt.Printf("left to make test: %s\n", strings.Join(left, " "))
	}
	return failed
}

// changes lists the files that differ from a commit, those that git does not know
// included, and the commit.
func changes(base string) ([]string, string, error) {
	if base == "" {
		base = "HEAD"
		for _, main := range []string{"main", "origin/main"} {
			if at, err := git("merge-base", "HEAD", main); err == nil {
				base = at[0]
				break
			}
		}
	}
	list := func() ([]string, error) {
		known, err := git("diff", "--name-only", base)
		if err != nil {
			return nil, err
		}
		unknown, err := git("ls-files", "--others", "--exclude-standard")
		return append(known, unknown...), err
	}
	files, err := list()
	if head, _ := git("rev-parse", "HEAD"); err == nil && len(files) == 0 && (base == "HEAD" || len(head) > 0 && head[0] == base) {
		base = "HEAD~1"
		files, err = list()
	}
	return files, cmp.Or(base[:min(len(base), 12)], "HEAD"), err
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
	for _, prefix := range []string{"netdyno/cmd/", "netdyno/test/", "netdyno/bench", "netdyno/truth"} {
		if strings.HasPrefix(importPath, prefix) {
			return true
		}
	}
	return importPath == "netdyno"
}

// test tests packages, prints what failed, and returns those that passed. Vet is part of
// lint.
func test(ctx context.Context, packages []string) (passed []string, err error) {
	c := exec.CommandContext(ctx, "go", append([]string{"test", "-vet=off"}, packages...)...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // which go passes on
	c.WaitDelay = 2 * time.Second
	c.Stderr = os.Stderr
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
	if ctx.Err() != nil {
		return passed, ctx.Err()
	}
	return passed, err
}
