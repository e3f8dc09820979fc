package metric_test

import (
	"cmp"
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

// tableOf has a row for each metric, one for both ends' metric of a kind, and one for
// metrics that follow each other and differ in one word of their formulas.
func tableOf(metrics []metric.Metric) string {
	known := map[string]bool{}
	for _, m := range metrics {
		known[m.Name] = true
	}
	var rows []tableRow
	for _, m := range metrics {
		row := tableRow{names: "`" + m.Name + "`", unit: m.Unit, better: cmp.Or(m.Better, "–"), words: strings.Fields(m.Formula), at: -1}
		if strings.HasPrefix(m.Name, "server.") {
			row.names += ", `client.…`"
			if kind := strings.TrimPrefix(m.Name, "server."); known["hop."+kind] {
				row.names += ", `hop.…`"
			}
		} else if kind, hop := strings.CutPrefix(m.Name, "hop."); hop && known["server."+kind] {
			continue
		} else if strings.HasPrefix(m.Name, "client.") {
			continue // in the server's row
		}
		if len(rows) == 0 || !rows[len(rows)-1].join(row) {
			rows = append(rows, row)
		}
	}
	var b strings.Builder
	b.WriteString("| metric | unit | better | what it is |\n|---|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.names, r.unit, r.better, strings.Join(r.words, " "))
	}
	return b.String()
}

// tableRow is a row of the table; at is the word that its metrics differ in, below 0
// where it has one metric.
type tableRow struct {
	names, unit, better string
	words               []string
	at                  int
}

// join takes another row in, if that differs in one word alone, and says so.
func (r *tableRow) join(other tableRow) bool {
	if r.unit != other.unit || r.better != other.better || len(r.words) != len(other.words) {
		return false
	}
	at := -1
	for i := range r.words {
		if i == r.at || r.words[i] == other.words[i] {
			continue
		}
		if at >= 0 || r.at >= 0 {
			return false
		}
		at = i
	}
	if r.at < 0 {
		r.at = at
	}
	if r.at < 0 {
		return false // nothing would tell the metrics apart
	}
	r.names += ", " + other.names
	r.words[r.at] += "/" + other.words[r.at]
	return true
}

func TestMetricsOfOneFormulaShareARow(t *testing.T) {
	table := tableOf([]metric.Metric{
		{Name: "x_p50", Unit: "µs", Better: "lower", Formula: "p50 of x"}, {Name: "x_p90", Unit: "µs", Better: "lower", Formula: "p90 of x"},
		{Name: "x_p99", Unit: "µs", Better: "lower", Formula: "p99 of x"}, {Name: "y_p99", Unit: "µs", Better: "lower", Formula: "p99 of y"},
		{Name: "in", Unit: "B", Formula: "bytes that came"}, {Name: "out", Unit: "B", Formula: "bytes that went"}, {Name: "seen", Unit: "1", Formula: "bytes that stayed"},
	})
	_, rows, _ := strings.Cut(table, "|---|---|---|---|\n")
	want := "| `x_p50`, `x_p90`, `x_p99` | µs | lower | p50/p90/p99 of x |\n| `y_p99` | µs | lower | p99 of y |\n" +
		"| `in`, `out` | B | – | bytes that came/went |\n| `seen` | 1 | – | bytes that stayed |\n"
	if rows != want {
		t.Errorf("the rows are\n%swant\n%s", rows, want)
	}
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
