package netdyno_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"netdyno/internal/metric"
)

// The program names metrics by the constants of internal/metric: a literal would stay as
// it is where a name changes. Names of one word are words of other things, too.
func TestMetricsAreNamedByConstants(t *testing.T) {
	names := map[string]bool{}
	for _, m := range metric.All() {
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
