package netdyno_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var updateDesign = flag.Bool("update-design", false, "rewrite the figures of DESIGN.md's table of sizes")

// A package is understood in one sitting, or DESIGN.md says why it is larger. Its figures
// may be this share off before they have to be renewed.
const (
	packageLines = 1000
	sizeOff      = 0.1
)

var sizeRow = regexp.MustCompile("(?m)^\\| `((?:internal|cmd)/[^`]+)` \\| ([0-9,]+) \\| (.+) \\|$")

// Every package above 1,000 lines has a row in DESIGN.md with its size and the reason, and
// every row is such a package.
func TestDesignKnowsTheLargePackages(t *testing.T) {
	design := readFile(t, "DESIGN.md")
	sizes := packageSizes(t)
	rows := map[string]bool{}
	fresh := sizeRow.ReplaceAllStringFunc(design, func(row string) string {
		cells := sizeRow.FindStringSubmatch(row)
		name, says := cells[1], cells[2]
		rows[name] = true
		size, rounded := sizes[name], thousands((sizes[name]+50)/100*100)
		var told int
		if _, err := fmt.Sscan(strings.ReplaceAll(says, ",", ""), &told); err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		switch off := float64(told-size) / float64(max(size, 1)); {
		case size <= packageLines:
			t.Errorf("DESIGN.md gives a reason for the size of %s, which has %d lines: take the row out", name, size)
		case !*updateDesign && (off > sizeOff || off < -sizeOff):
			t.Errorf("DESIGN.md says %s lines of %s, which has %d: go test . -run Design -update-design", says, name, size)
		}
		return "| `" + name + "` | " + rounded + " | " + cells[3] + " |"
	})
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if sizes[name] > packageLines && !rows[name] {
			t.Errorf("%s has %d lines, and DESIGN.md no reason for more than %d: divide it, or say why", name, sizes[name], packageLines)
		}
	}
	if *updateDesign && fresh != design {
		if err := os.WriteFile("DESIGN.md", []byte(fresh), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var question = regexp.MustCompile("(?m)^- \\*\\*([^*]+\\?)\\*\\* .*: `grep -r?nE '([^']+)' ([^`]+)`$")

// A question that a reader of the code has is answered by one grep, which DESIGN.md gives:
// it finds something, and not so much that one has to search again.
func TestDesignsQuestionsAreAnsweredByOneGrep(t *testing.T) {
	const asked, most = 10, 20
	found := question.FindAllStringSubmatch(readFile(t, "DESIGN.md"), -1)
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
		for line := range bytes.Lines([]byte(readFile(t, path))) {
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

// packageSizes are the lines of every package of the product, tests left out.
func packageSizes(t *testing.T) map[string]int {
	t.Helper()
	sizes := map[string]int{}
	for _, top := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(top, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			sizes[filepath.Dir(path)] += strings.Count(readFile(t, path), "\n")
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return sizes
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func thousands(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
