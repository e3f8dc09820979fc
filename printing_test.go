package netdyno_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"netdyno/internal/printable"
)

// screenFile is where the command line's stdout and stderr are made printable.
const screenFile = "screen.go"

// What a worker, a server or a file says must not steer a terminal. The command
// line keeps that by printing to its two screens and nowhere else.
func TestTheCommandLinePrintsToItsScreensAlone(t *testing.T) {
	files, err := filepath.Glob("cmd/netdyno/*.go")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files of the command line, %v", len(files), err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || filepath.Base(file) == screenFile {
			continue
		}
		for _, found := range directPrints(t, file, nil) {
			t.Errorf("%s: fmt.Fprint… to stdout or stderr (%s) instead: it can carry a worker's, a server's or a file's words", found, screenFile)
		}
	}
}

// The rule must be able to fail.
func TestDirectPrintsAreFound(t *testing.T) {
	source := `package main
import ("fmt"; "os")
func main() { fmt.Println("a"); fmt.Fprintln(os.Stderr, "b"); println("c"); fmt.Fprintln(stdout, fmt.Sprint("fine")) }`
	if found := directPrints(t, "main.go", source); len(found) != 3 {
		t.Errorf("found %q, want three", found)
	}
}

// directPrints returns where a file uses the process's own streams.
func directPrints(t *testing.T, name string, source any) []string {
	t.Helper()
	var files token.FileSet
	file, err := parser.ParseFile(&files, name, source, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		what := ""
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok {
				what = of.Name + "." + n.Sel.Name
			}
		case *ast.CallExpr:
			if called, ok := n.Fun.(*ast.Ident); ok {
				what = called.Name
			}
		}
		if strings.HasPrefix(what, "fmt.Print") || what == "os.Stdout" || what == "os.Stderr" || what == "print" || what == "println" {
			found = append(found, files.Position(n.Pos()).String()+": "+what)
		}
		return true
	})
	return found
}

// Every character of the program's own texts has something that stands for it where
// a terminal shows ASCII alone; U+E000 never leaves the program.
func TestOwnCharactersHaveTheirASCII(t *testing.T) {
	seen := 0
	for _, root := range []string{"cmd", "internal"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".pb.go") || path == messages {
				return err
			}
			for _, text := range literals(t, path) {
				for _, r := range text {
					if _, known := printable.InASCII(r); r >= utf8.RuneSelf && !known && r != '\ue000' {
						t.Errorf("%s: nothing in ASCII stands for %q in %q", path, r, text)
					}
					seen++
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 100_000 {
		t.Errorf("only %d characters were read", seen)
	}
}

// messages holds the content of built-in messages, which nothing prints.
const messages = "internal/run/message/builtin.go"

// literals returns the strings of a file.
func literals(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && (literal.Kind == token.STRING || literal.Kind == token.CHAR) {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				all = append(all, text)
			}
		}
		return true
	})
	return all
}
