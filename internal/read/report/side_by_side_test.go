package report

import (
	"io"
	"strings"
	"testing"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/test/synthetic"
)

// besideRuns are runs of one study on several rigs, of which the last is half as fast.
func besideRuns(t *testing.T, rigs ...string) (found []finding.Findings, places []RunPlace) {
	t.Helper()
	for i, rig := range rigs {
		o := synthetic.Options{Bare: true, Blocks: 6, Connections: []int{50, 100}, Seed: uint64(i + 1), SD: 0.01, BlockSD: 0.01}
		for _, name := range []string{"base", "arm"} {
			arm := synthetic.Arm{Name: name}
			if i == len(rigs)-1 {
				arm.Speed = 0.5
			}
			o.Arms = append(o.Arms, arm)
		}
		h, trials, records := synthetic.Run(o)
		h.Facts.Rig = rig
		f, err := finding.Find(h, trials, records)
		if err != nil {
			t.Fatal(err)
		}
		found, places = append(found, f), append(places, RunPlace{Name: "run-" + rig, Report: "../" + rig + "/report.html"})
	}
	return found, places
}

// Runs of several rigs stand side by side: every figure with its ratio to the first run's,
// which is the quotient of the two, an interval around it, and no verdict.
func TestRunsSideBySide(t *testing.T) {
	found, places := besideRuns(t, "loopback", "netns:2", "podman:2?network=bridge")
	p := NewSideBySide(found, places)
	if got := p.gated.Columns; len(got) != 4 || got[1].Title != "loopback" || got[3].Title != "podman:2?network=bridge" {
		t.Fatalf("columns are %+v", got)
	}
	if len(p.gated.Rows) != len(found[0].Header.Study.Compare.Primary)*4 { // two arms in two cells
		t.Errorf("%d rows", len(p.gated.Rows))
	}
	for _, row := range p.gated.Rows {
		if first := row[1]; first.Figure == nil || first.Ratio != nil {
			t.Errorf("%s: the first run's is %+v", row[0].Text, first)
		}
		for _, d := range row[2:] {
			if d.Figure == nil || d.Ratio == nil || d.Ratio.Interval == "" || d.Ratio.Verdict != "" {
				t.Errorf("%s: a later run's is %+v", row[0].Text, d)
			}
		}
	}
	rate := p.gated.Rows[0]
	if got := rate[3].Ratio.Text; !strings.HasPrefix(got, "0.5") && !strings.HasPrefix(got, "0.49") {
		t.Errorf("%s at half the speed is %s", rate[0].Text, got)
	}
	for _, b := range history.SideBySide([]compare.Run{found[0].Run, found[2].Run}) {
		for _, c := range b.Comparisons {
			if ratio := c.Value / c.BaseValue; c.Ratio < ratio*0.999 || c.Ratio > ratio*1.001 || c.Low > c.Ratio || c.High < c.Ratio {
				t.Errorf("%s of %s: %v (%v–%v) of %v and %v", c.Metric, c.Arm, c.Ratio, c.Low, c.High, c.Value, c.BaseValue)
			}
		}
	}
	for name, text := range map[string]string{
		"page": string(render(t, p.HTML)), "Markdown": string(render(t, p.Markdown)),
		"text": string(render(t, func(w io.Writer) error { return p.Text(w, TextOptions{Width: 80}) })),
	} {
		flat := strings.Join(strings.Fields(text), " ")
		if !strings.Contains(flat, "made one after the other, not in the same blocks") || !strings.Contains(flat, rate[3].Ratio.Text) {
			t.Errorf("the %s lacks the caveat or the ratio %s", name, rate[3].Ratio.Text)
		}
	}
	if page := string(render(t, p.HTML)); strings.Count(page, `href="../`) != 3 || !strings.Contains(page, `data-figure="effect-1"`) {
		t.Error("the page lacks the reports or the figure")
	}
}

// Runs of one rig are told apart by their directories, and what else differs is said.
func TestRunsOfOneRigSideBySide(t *testing.T) {
	found, places := besideRuns(t, "loopback", "loopback")
	found[1].Header.Study.Hold = map[string]string{"connections": "7"}
	p := NewSideBySide(found, places)
	if got := p.gated.Columns[2].Title; got != "loopback, run-loopback" {
		t.Errorf("the second is called %q", got)
	}
	if len(p.differences.Rows) == 0 || !p.differences.Rows[0][1].Strong {
		t.Errorf("differences are %+v", p.differences.Rows)
	}
}
