package metric_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"netdyno/internal/metric"
)

var update = flag.Bool("update", false, "rewrite the specification's table of metrics")

// The table stands between these lines.
const (
	tableFile  = "../../docs/specification.md"
	tableBegin = "<!-- metrics:begin -->\n"
	tableEnd   = "<!-- metrics:end -->\n"
)

// The specification has the registry as its table of metrics.
func TestSpecificationHasTheTableOfMetrics(t *testing.T) {
	text, err := os.ReadFile(tableFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begun := strings.Cut(string(text), tableBegin)
	table, after, ended := strings.Cut(rest, tableEnd)
	if !begun || !ended {
		t.Fatalf("%s has no lines %q and %q", tableFile, strings.TrimSpace(tableBegin), strings.TrimSpace(tableEnd))
	}
	want := tableOf(metric.All())
	if table == want {
		return
	}
	if !*update {
		t.Fatalf("the table of metrics in %s is not that of the registry; rewrite it by: make golden", tableFile)
	}
	if err := os.WriteFile(tableFile, []byte(before+tableBegin+want+tableEnd+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tableOf has a row for each metric, and one for both ends' metric of a kind.
func tableOf(metrics []metric.Metric) string {
	var b strings.Builder
	b.WriteString("| metric | unit | better | what it is |\n|---|---|---|---|\n")
	for _, m := range metrics {
		name := "`" + m.Name + "`"
		if strings.HasPrefix(m.Name, "server.") {
			name = "`" + m.Name + "`, `client.…`"
		} else if strings.HasPrefix(m.Name, "client.") {
			continue // in the server's row
		}
		better := m.Better
		if better == "" {
			better = "–"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, m.Unit, better, m.Formula)
	}
	return b.String()
}

// A cell that is longer is not read.
const mostWords = 40

func TestFormulasAreShort(t *testing.T) {
	ends := map[string]string{}
	for _, m := range metric.All() {
		if n := len(strings.Fields(m.Formula)); n > mostWords {
			t.Errorf("the formula of %s has %d words, at most %d fit the table", m.Name, n, mostWords)
		}
		// A row stands for both ends.
		if end, kind, both := strings.Cut(m.Name, "."); both && end != "host" {
			if other, seen := ends[kind]; seen && other != m.Formula {
				t.Errorf("%s says %q of one end and %q of the other", kind, other, m.Formula)
			}
			ends[kind] = m.Formula
		}
		if strings.ContainsAny(m.Formula, "|\n") {
			t.Errorf("the formula of %s breaks a table: %q", m.Name, m.Formula)
		}
	}
}
