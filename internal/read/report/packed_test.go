package report

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
)

// manyMetrics are findings whose tables of every metric are too large to stand in the
// page as they are, with a hostile name among them.
func manyMetrics() finding.Findings {
	a := cells.Arm{Name: "go-net"}
	for i := range maxOpenValues {
		a.Metrics = append(a.Metrics, cells.Summary{Metric: fmt.Sprintf("metric-%d", i), Figure: cells.Figure{N: 1, Value: float64(i)}})
	}
	a.Metrics[1].Metric = hostile
	return finding.Findings{Run: compare.Run{Cells: []cells.Cell{{Arms: []cells.Arm{a}}}}}
}

// A packed table has the rows that it would have in the page, and every name in it
// stays text.
func TestLargeTablesArePacked(t *testing.T) {
	t.Parallel()
	page := string(render(t, New(manyMetrics()).HTML))
	packed := regexp.MustCompile(`(?s)<details class="packed"><summary>([^<]*)</summary>.*?<script type="application/gzip">([^<]*)</script>`).FindStringSubmatch(page)
	if packed == nil || !strings.Contains(packed[1], "Every metric") {
		t.Fatalf("no table is packed in %.300q", page)
	}
	table := string(unpacked(t, []byte(packed[2])))
	if n := strings.Count(table, "<tr>"); n != maxOpenValues+1 {
		t.Errorf("the packed table has %d rows, want %d and a heading", n, maxOpenValues)
	}
	if strings.Contains(table, "<script") || strings.Contains(table, "<details") || !strings.Contains(table, "&lt;script&gt;") {
		t.Errorf("a hostile name is not text, or the table is folded twice: %.600q", table)
	}
	if strings.Contains(page, ">metric-7<") {
		t.Error("the table stands in the page too")
	}
	if small := string(render(t, New(smallSample()).HTML)); strings.Contains(small, `class="packed"`) {
		t.Error("a small run's tables are packed")
	}
}
