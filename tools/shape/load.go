package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const module = "netdyno"

// shape is what is measured of a package. Tests and generated files are left out,
// except in testLines.
type shape struct {
	path                         string // without the module's name
	files, lines, testLines      int
	exported                     int // types, functions, constants, variables and methods of exported types
	references                   []reference
	back                         []reference // those of references that run back up
	longestFile, longestFunction extent
}

// extent is a file's or a function's length.
type extent struct {
	name  string
	lines int
}

// reference is one file's use of names that another file of its package declares.
type reference struct {
	from, to string
	names    []string // sorted
}

// listed is what go list tells of a package.
type listed struct {
	ImportPath, Dir, Export            string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Standard, DepOnly                  bool
}

// load measures the packages that the patterns name.
func load(patterns []string) ([]shape, error) {
	list, err := list(patterns)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range list {
		exports[p.ImportPath] = p.Export
	}
	var found []shape
	for _, p := range list {
		if p.DepOnly || len(p.GoFiles) == 0 && len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			continue
		}
		s, err := measure(p, exports)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
		}
		found = append(found, s)
	}
	return found, nil
}

func list(patterns []string) ([]listed, error) {
	command := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,TestGoFiles,XTestGoFiles,Standard,DepOnly"}, patterns...)...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		packages = append(packages, p)
	}
}

// measure reads one package. exports holds the compiler's export data of every
// package that it may import, by import path.
func measure(p listed, exports map[string]string) (shape, error) {
	s := shape{path: strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")}
	for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return s, err
		}
		s.testLines += bytes.Count(text, []byte("\n"))
	}
	var set token.FileSet
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(&set, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return s, err
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	config := types.Config{Importer: importer.ForCompiler(&set, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})}
	checked, err := config.Check(p.ImportPath, &set, files, info)
	if err != nil && len(files) > 0 {
		return s, err
	}
	written := slices.DeleteFunc(files, ast.IsGenerated)
	s.sizes(&set, written)
	s.refer(&set, written, checked, info)
	return s, nil
}

// sizes counts lines, functions and exported names.
func (s *shape) sizes(set *token.FileSet, files []*ast.File) {
	for _, file := range files {
		lines, name := set.Position(file.FileEnd).Line, filepath.Base(set.Position(file.Package).Filename)
		s.files, s.lines = s.files+1, s.lines+lines
		s.longestFile = longer(s.longestFile, extent{s.path + "/" + name, lines})
		for _, d := range file.Decls {
			s.exported += exportedOf(d)
			if f, ok := d.(*ast.FuncDecl); ok {
				length := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
				s.longestFunction = longer(s.longestFunction, extent{s.path + "." + f.Name.Name, length})
			}
		}
	}
}

func longer(a, b extent) extent {
	if b.lines > a.lines {
		return b
	}
	return a
}

// exportedOf counts the exported names that a declaration makes.
func exportedOf(d ast.Decl) int {
	n := 0
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || ast.IsExported(receiver(d))) {
			n++
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() {
					n++
				}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					if name.IsExported() {
						n++
					}
				}
			}
		}
	}
	return n
}

// receiver names the type that a method belongs to.
func receiver(f *ast.FuncDecl) string {
	name := ""
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}
