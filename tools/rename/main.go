// Command rename gives netdyno's module another path, in go.mod and wherever Go code names
// its packages:
//
//	make rename MODULE=example.org/owner/netdyno
//
// `go install` takes a path only under the host that it is published at.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] == "" {
		fmt.Fprintln(os.Stderr, "usage: make rename MODULE=host/owner/netdyno")
		os.Exit(2)
	}
	if err := rename(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
}

var (
	moduleLine = regexp.MustCompile(`(?m)^module (\S+)$`)
	valid      = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._~-]+)+$`)
)

// rename changes the files of the module in this directory that git knows.
func rename(to string) error {
	if !valid.MatchString(to) {
		return fmt.Errorf("%q is no module path that go install takes: expected HOST/OWNER/NAME, as example.org/owner/netdyno", to)
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	line := moduleLine.FindSubmatch(mod)
	if line == nil {
		return errors.New("go.mod: no line \"module PATH\"")
	}
	listed, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		return fmt.Errorf("list the files of the module: %w", err)
	}
	files := strings.FieldsFunc(string(listed), func(c rune) bool { return c == 0 })
	change := changes(string(line[1]), to, files)
	for _, file := range files {
		if !change.of(file) {
			continue
		}
		old, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if text := change.in(old, path.Base(file) == "go.mod"); !bytes.Equal(text, old) {
			if err := os.WriteFile(file, text, 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// change is how one path becomes another.
type change struct {
	to           []byte
	root         []byte // of the old path's first package, as a string
	code, module *regexp.Regexp
}

// changes is the change for a module whose packages lie in the directories of these files.
// Generated descriptors count the bytes of the path and keep it.
func changes(from, to string, files []string) change {
	var below []string
	for _, file := range files {
		if top, _, deeper := strings.Cut(file, "/"); deeper && (len(below) == 0 || below[len(below)-1] != top) {
			below = append(below, regexp.QuoteMeta(top))
		}
	}
	old := regexp.QuoteMeta(from)
	return change{
		to:     []byte(to),
		root:   []byte(`"` + from + `/"`),
		code:   regexp.MustCompile(`(?m)(^|[\s"|])` + old + `(/(?:` + strings.Join(below, "|") + `)[/."\s])`),
		module: regexp.MustCompile(`(?m)^((?:module|replace|require)? ?\t?)` + old + `((?:/\S+)?$| v0| =>)`),
	}
}

func (change) of(file string) bool {
	return strings.HasSuffix(file, ".go") || strings.HasSuffix(file, ".proto") || path.Base(file) == "go.mod" ||
		file == "CONTRIBUTING.md" || file == "kits/go/README.md"
}

// in is a file's text with the new path.
func (c change) in(text []byte, mod bool) []byte {
	if mod {
		return c.module.ReplaceAll(text, append(append([]byte("${1}"), c.to...), "${2}"...))
	}
	text = bytes.ReplaceAll(text, c.root, append(append([]byte(`"`), c.to...), `/"`...))
	text = c.code.ReplaceAll(text, append(append([]byte("${1}"), c.to...), "${2}"...))
	// The package of the module itself is imported on a line of its own.
	root := regexp.MustCompile(`(?m)^(\s*(?:import )?(?:\w+ )?")` + regexp.QuoteMeta(strings.Trim(string(c.root), `"/`)) + `"$`)
	return root.ReplaceAll(text, append(append([]byte("${1}"), c.to...), '"'))
}
