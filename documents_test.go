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
)

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
		for _, cell := range longCells(text) {
			t.Errorf("%s:%s", name, cell)
		}
	}
}

// longCells returns the table cells of a document that have too many words.
func longCells(text string) []string {
	var found []string
	code, number := false, 0
	for line := range strings.Lines(text) {
		number++
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
		}
		if code || !strings.HasPrefix(line, "|") {
			continue
		}
		for cell := range strings.SplitSeq(line, "|") {
			if n := len(strings.Fields(cell)); n > cellWords {
				found = append(found, fmt.Sprintf("%d: a table cell has %d words, at most %d are allowed: say it below the table", number, n, cellWords))
			}
		}
	}
	return found
}

func TestLongCellsAreFound(t *testing.T) {
	long := strings.Repeat("word ", cellWords+1)
	if got := longCells("| a | " + long + "|\n```\n| " + long + "|\n```\n" + long + "\n"); len(got) != 1 || !strings.HasPrefix(got[0], "1: ") {
		t.Errorf("found %q, want the one cell of line 1", got)
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
