package netdyno_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The lengths of the documents (docs/decisions and CHANGELOG.md are not read from
// the beginning to the end).
const (
	readmeLines = 120
	methodWords = 1400 // two pages
	cellWords   = 40
	lineWords   = 60 // of a paragraph or an item, in bounded documents
)

// bounded are the long documents and the most words that each may have, code left
// out: a new rule fits, and a story about it does not.
var bounded = map[string]int{
	"docs/specification.md": 12400,
	"docs/wires.md":         4550,
	"docs/benchmarks.md":    3600,
	"contract/CONTRACT.md":  4800,
}

// documents returns the Markdown files of the project and their text.
func documents(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md").Output()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	for _, name := range strings.Fields(string(out)) {
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) {
			continue // taken away, and not yet committed so
		}
		if err != nil {
			t.Fatal(err)
		}
		texts[name] = string(text)
	}
	if len(texts) < 20 {
		t.Fatalf("only %d documents were found", len(texts))
	}
	return texts
}

func TestDocumentsAreShort(t *testing.T) {
	texts := documents(t)
	if n := strings.Count(texts["README.md"], "\n"); n > readmeLines {
		t.Errorf("README.md has %d lines, at most %d are allowed: move what is not needed first to docs/", n, readmeLines)
	}
	if n := len(strings.Fields(texts["METHOD.md"])); n > methodWords {
		t.Errorf("METHOD.md has %d words, at most %d are allowed: rules belong into docs/specification.md", n, methodWords)
	}
	for name, text := range texts {
		most, short := bounded[name]
		long, words := tooLong(text, short)
		for _, what := range long {
			t.Errorf("%s:%s", name, what)
		}
		if short && words > most {
			t.Errorf("%s has %d words, at most %d are allowed: say each thing once, link what another document says", name, words, most)
		}
	}
	for name := range bounded {
		if texts[name] == "" {
			t.Errorf("%s is bounded and does not exist", name)
		}
	}
}

// tooLong returns the table cells of a document that have too many words, and of a
// short document its lines too; and the number of its words, code left out.
func tooLong(text string, short bool) (found []string, words int) {
	code, number := false, 0
	for line := range strings.Lines(text) {
		number++
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
			continue
		}
		if code {
			continue
		}
		parts, most, what := []string{line}, lineWords, "a line has %d words, at most %d are allowed: divide it"
		if strings.HasPrefix(line, "|") {
			parts, most, what = strings.Split(line, "|"), cellWords, "a table cell has %d words, at most %d are allowed: say it below the table"
		}
		for _, part := range parts {
			n := len(strings.Fields(part))
			words += n
			if n > most && (short || most == cellWords) {
				found = append(found, fmt.Sprintf("%d: "+what, number, n, most))
			}
		}
	}
	return found, words
}

func TestLongLinesAndCellsAreFound(t *testing.T) {
	cell, line := strings.Repeat("word ", cellWords+1), strings.Repeat("word ", lineWords+1)
	text := "| a | " + cell + "|\n```\n| " + cell + "|\n```\n" + cell + "\n" + line + "\n"
	if got, words := tooLong(text, false); len(got) != 1 || !strings.HasPrefix(got[0], "1: ") || words != 1+2*(cellWords+1)+lineWords+1 {
		t.Errorf("found %q and %d words, want the one cell of line 1", got, words)
	}
	if got, _ := tooLong(text, true); len(got) != 2 || !strings.HasPrefix(got[1], "6: ") {
		t.Errorf("found %q, want the line too", got)
	}
}

var (
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	marks   = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
)

// Every link of a document to another place of the project leads somewhere.
func TestLinksOfTheDocuments(t *testing.T) {
	texts, seen := documents(t), 0
	for name, text := range texts {
		for _, found := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			seen++
			to := filepath.Join(filepath.Dir(name), target)
			if target == "" {
				to = name
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links %s: %v", name, found[1], err)
			} else if anchor != "" && !hasAnchor(texts[to], anchor) {
				t.Errorf("%s links %s: %s has no such heading", name, found[1], to)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d links were found", seen)
	}
}

// hasAnchor tells whether a heading of the text has the anchor that GitHub gives it.
func hasAnchor(text, anchor string) bool {
	for _, h := range heading.FindAllStringSubmatch(text, -1) {
		plain := marks.ReplaceAllString(strings.ToLower(link.ReplaceAllString(h[1], "]")), "")
		if strings.ReplaceAll(plain, " ", "-") == anchor {
			return true
		}
	}
	return false
}
