package netdyno_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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

var question = regexp.MustCompile("(?m)^- \\*\\*([^*]+\\?)\\*\\* .*: `grep -r?nE '([^']+)' ([^`]+)`$")

// A question that a reader of the code has is answered by one grep, which DESIGN.md gives:
// it finds something, and not so much that one has to search again.
func TestDesignsQuestionsAreAnsweredByOneGrep(t *testing.T) {
	const asked, most = 5, 20
	found := question.FindAllStringSubmatch(textOf(t, "DESIGN.md"), -1)
	if len(found) < asked {
		t.Errorf("DESIGN.md answers %d questions by a grep, want at least %d", len(found), asked)
	}
	for _, q := range found {
		pattern, err := regexp.Compile("(?m)" + q[2])
		if err != nil {
			t.Errorf("%s: %v", q[1], err)
			continue
		}
		lines := 0
		for _, place := range strings.Fields(q[3]) {
			lines += linesThatMatch(t, pattern, place)
		}
		if lines == 0 || lines > most {
			t.Errorf("%s: grep '%s' %s finds %d lines, want 1 to %d", q[1], q[2], q[3], lines, most)
		}
	}
}

// linesThatMatch counts the lines of a file, or of all files below a directory, that match.
func linesThatMatch(t *testing.T, pattern *regexp.Regexp, place string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(place, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		for line := range bytes.Lines([]byte(textOf(t, path))) {
			if pattern.Match(bytes.TrimSuffix(line, []byte("\n"))) {
				n++
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return n
}
