package netdyno_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netdyno/internal/metric"
)

// retired are coinages that the project gave up, and the field's words for them
// (GLOSSARY.md). Nothing new may use them.
var retired = map[string]string{
	"askPatience": "askTimeout", "patience": "timeouts", "obituary": "exitReason",
	"crew": "SlotRunner", "mortal": "Exiter", "redialler": "Reconnector", "accountant": "ResultSource",
	"tether": "StartTied", "forsake": "DropLost", "bereft": "lostPeers", "mender": "Recoverer", "parcel": "artifact",
	"ledger": "consistency checks", "undercuts": "minimize", "bunched": "bursty", "evened": "too-regular",
	"serverBooks": "checkServerCounts", "kernelBooks": "checkKernelCounts", "prescribe": "printAdvice", "cutter": "chunker",
}

// Words that a record, a changelog or the test itself has to keep.
var keepsRetired = []string{"CHANGELOG.md", "GLOSSARY.md", "words_test.go"}

func TestRetiredWordsStayRetired(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "*.go", "*.cc", "*.h", "*.ts", "*.md", "*.yaml", "Makefile").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range strings.Fields(string(out)) {
		text, err := os.ReadFile(name)
		if os.IsNotExist(err) || slices.Contains(keepsRetired, path.Base(name)) || strings.Contains(name, "/testdata/") {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		seen++
		for line, said := range strings.Split(string(text), "\n") {
			for _, word := range retiredWords(said) {
				t.Errorf("%s:%d: %q is retired; the word is %q", name, line+1, word, retired[word])
			}
		}
	}
	if seen < 300 {
		t.Errorf("only %d files were read", seen)
	}
}

var parted = regexp.MustCompile(`[A-Za-z][a-z]*`)

// retiredWords returns the retired words of a line, also as parts of identifiers.
func retiredWords(line string) []string {
	var found []string
	parts := parted.FindAllString(line, -1)
	for word := range retired {
		if slices.ContainsFunc(parts, func(part string) bool {
			return strings.EqualFold(part, word) || strings.EqualFold(part, word+"s")
		}) || strings.ToLower(word) != word && strings.Contains(line, word) {
			found = append(found, word)
		}
	}
	slices.Sort(found)
	return found
}

// The rule must be able to fail.
func TestRetiredWordsAreFound(t *testing.T) {
	for line, want := range map[string]int{
		"func newCrew(work *Load) *Crew": 1, "a checked ledger": 1, "the screw and the crewless": 0, "kernelBooks(x)": 1, "counters": 0, "bunchedSends": 1,
	} {
		if got := retiredWords(line); len(got) != want {
			t.Errorf("%q: found %q, want %d", line, got, want)
		}
	}
}

// The program names metrics by the constants of internal/metric: a literal would stay as
// it is where a name changes. Names of one word are words of other things, too.
func TestMetricsAreNamedByConstants(t *testing.T) {
	names := map[string]bool{}
	for _, m := range slices.Concat(metric.All(), metric.OfSegments()) {
		for _, name := range []string{m.Name, strings.TrimPrefix(m.Name, metric.OfServer), strings.TrimPrefix(m.Name, metric.OfClient)} {
			names[name] = strings.ContainsAny(name, "_.")
		}
	}
	out, err := exec.Command("git", "ls-files", "internal", "cmd", "peers", "test", "tools", "truth").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, path := range strings.Fields(string(out)) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "internal/metric/") {
			continue
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		seen++
		for node := range ast.Preorder(file) {
			if literal, is := node.(*ast.BasicLit); is && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && names[strings.TrimPrefix(text, ".")] {
					t.Errorf("%s: %s is a metric; expected its constant of internal/metric", files.Position(literal.Pos()), literal.Value)
				}
			}
		}
	}
	if seen < 300 {
		t.Errorf("only %d files were read", seen)
	}
}
