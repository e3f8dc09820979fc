package report

import (
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/test/synthetic"
)

// The page of two runs draws every primary comparison that has a ratio, and a
// hostile name stays text.
func TestPageOfTwoRunsDrawsWhatItJudges(t *testing.T) {
	runs := make([]finding.Findings, 2)
	for i := range runs {
		h, trials, records := synthetic.Run(synthetic.Options{Bare: true, Blocks: 4, Connections: []int{50}, Seed: uint64(i + 1), SD: 0.1, BlockSD: 0.1})
		var err error
		if runs[i], err = finding.Find(h, trials, records); err != nil {
			t.Fatal(err)
		}
	}
	apart := history.CompareRuns(runs[0].Run, runs[1].Run, nil)
	const hostile = "</script><script>alert(1)</script>"
	p := NewRuns(apart, runs[0], runs[1], [2]RunPlace{{Name: hostile, Report: "../" + hostile + "/report.html"}, {Name: "b", Report: "report.html"}})
	drawn, judged := 0, 0
	for _, f := range p.effects {
		for _, g := range f.Forest.Groups {
			drawn += len(g.Rows)
		}
	}
	for _, c := range apart.Comparisons {
		if c.Primary && c.Ratio > 0 {
			judged++
		}
	}
	if drawn == 0 || drawn != judged {
		t.Errorf("%d rows drawn of %d primary comparisons", drawn, judged)
	}
	page := string(render(t, p.HTML))
	if strings.Contains(page, hostile) || !strings.Contains(page, "default-src &#39;none&#39;") || !strings.Contains(page, `data-figure="effect-1"`) {
		t.Error("the page lets a name through, or lacks its policy or its figure")
	}
}
