package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every word that a report or a command line may show is explained.
func TestEveryWordIsExplained(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range glossary() {
		if len(e.lines) == 0 || e.lines[0][0] != "means" {
			t.Errorf("%s %s has no meaning: %q", e.group, e.name, e.lines)
		}
		if seen[e.group+e.name] {
			t.Errorf("%s %s is listed twice", e.group, e.name)
		}
		seen[e.group+e.name] = true
	}
	if len(seen) < 100 {
		t.Errorf("only %d words", len(seen))
	}
}

// warnsAbout finds what a warning in the sources is about.
var warnsAbout = regexp.MustCompile(`(?:About: +|p\.warn\()"([^":]+)`)

// A warning begins with a word that netdyno explain knows.
func TestEveryWarningIsExplained(t *testing.T) {
	known, seen := wordsOf(glossary()), 0
	err := filepath.WalkDir("../../internal", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/history/") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, match := range warnsAbout.FindAllStringSubmatch(string(text), -1) {
			seen++
			if !slices.Contains(known, match[1]) {
				t.Errorf("%s warns about %q, of which netdyno explain knows nothing", path, match[1])
			}
		}
		return err
	})
	if err != nil || seen < 20 {
		t.Errorf("%d warnings found, %v", seen, err)
	}
	for _, name := range []string{"invalid", "few-samples", "server", "trials", "unfinished"} {
		if !slices.Contains(known, name) {
			t.Errorf("%s is not explained", name)
		}
	}
}
