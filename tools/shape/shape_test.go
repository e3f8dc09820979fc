package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

func edges(of ...string) []reference {
	var found []reference
	for _, e := range of {
		found = append(found, reference{from: e[:1], to: e[1:]})
	}
	return found
}

func TestReferencesThatRunBackUp(t *testing.T) {
	for _, c := range []struct {
		name       string
		references []reference
		want       int
	}{
		{"none", nil, 0},
		{"layers", edges("ab", "ac", "bc", "cd", "ad"), 0},
		{"two files that use each other", edges("ab", "ba"), 1},
		{"a circle of three", edges("ab", "bc", "ca"), 1},
		{"two circles that share a file", edges("ab", "bc", "ca", "ad", "da"), 2},
		{"a circle beside layers", edges("xa", "ab", "bc", "ca", "cy", "xy"), 1},
		{"everyone uses everyone, of four", edges("ab", "ba", "ac", "ca", "ad", "da", "bc", "cb", "bd", "db", "cd", "dc"), 6},
	} {
		if got := back(c.references); len(got) != c.want {
			t.Errorf("%s: %d references run back up (%v), want %d", c.name, len(got), got, c.want)
		}
	}
}

func TestWhatAPackageIsMeasuredBy(t *testing.T) {
	packages, err := load([]string{"netdyno/internal/quantity"})
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) != 1 || packages[0].path != "internal/quantity" {
		t.Fatalf("measured %v, want internal/quantity alone", packages)
	}
	s := packages[0]
	if s.files < 2 || s.lines < 100 || s.testLines == 0 || s.exported < 5 || len(s.references) == 0 {
		t.Errorf("files %d, lines %d, lines of tests %d, exported %d, references %d: the package has more", s.files, s.lines, s.testLines, s.exported, len(s.references))
	}
	if s.longestFile.lines < 50 || s.longestFunction.lines < 5 {
		t.Errorf("longest file %v, longest function %v", s.longestFile, s.longestFunction)
	}
}

func TestExportedNames(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "a.go", `package a
type T struct{}
type t struct{}
const A, b = 1, 2
func (T) M() {}
func (t) M() {}
func (*T) m() {}
func F() {}`, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, d := range file.Decls {
		n += exportedOf(d)
	}
	if n != 4 { // T, A, T.M, F
		t.Errorf("%d exported names, want 4", n)
	}
	if ast.IsGenerated(file) {
		t.Error("a file that a person wrote counts as generated")
	}
}

func TestProseLeavesOutCode(t *testing.T) {
	text := "one two three\n```\na b c d e f g\n```\n| cell | a longer cell of six words |\n"
	line, cell, words := prose("a.md", text)
	if line.lines != 3 || cell.lines != 6 || words != 10 {
		t.Errorf("line %v, cell %v, %d words, want 3, 6 and 10", line, cell, words)
	}
	if !slices.Contains([]string{"a.md:5"}, cell.name) {
		t.Errorf("the cell is said to stand at %s", cell.name)
	}
}
