package report

import (
	"io"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/finding/synthetic"
	"netdyno/internal/record"
)

// found returns the findings of a synthetic study, as the reader makes them.
func found(t *testing.T, o synthetic.Options) finding.Findings {
	t.Helper()
	f, err := finding.Find(synthetic.Run(o))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestEveryMetricHasItsWordsAndUnit(t *testing.T) {
	for _, m := range record.Metrics() {
		if label := labelOf(m.Name); label == m.Name {
			t.Errorf("%s has no label", m.Name)
		}
		if s := scaleFor(m.Name, m.Unit, 1); s.Unit == "" || s.Unit == "1" || s.Unit == "share" {
			t.Errorf("%s is shown in %q", m.Name, s.Unit)
		}
	}
}

func TestFindingsFillThePage(t *testing.T) {
	for name, o := range map[string]synthetic.Options{
		"open loop":   {Rate: 20_000, SD: 0.02, Seed: 7},
		"closed loop": {SD: 0.02, Seed: 7, Connections: []int{50}},
	} {
		p := New(found(t, o))
		for _, a := range p.Answers {
			if a.Verdict == "" {
				t.Errorf("%s: the answer %q shows no verdict", name, a.Text)
			}
		}
		for _, c := range p.Cells {
			kinds := map[string]bool{}
			for _, f := range c.Figures {
				kinds[kindOf(f)] = true
			}
			for _, kind := range []string{"dots", "curve", "series", "split"} {
				if !kinds[kind] {
					t.Errorf("%s, %s: no figure of kind %s", name, c.Title, kind)
				}
			}
			if wide := len(c.Main.Columns); wide < 6 {
				t.Errorf("%s, %s: the main table has %d columns", name, c.Title, wide)
			}
		}
		for _, id := range []string{"noise", "comparisons", "settings"} {
			if !hasSection(p, id) {
				t.Errorf("%s: no section %s", name, id)
			}
		}
		md := string(render(t, p.Markdown))
		if what := strings.Split(name, " ")[0]; strings.Contains(md, "response p99") != (what == "open") {
			t.Errorf("%s: a response time belongs to an open loop, and only there", name)
		}
		render(t, p.HTML)
		render(t, func(w io.Writer) error { return p.Text(w, TextOptions{}) })
	}
}

func kindOf(f Figure) string {
	switch {
	case f.Forest != nil:
		return "forest"
	case f.Dots != nil:
		return "dots"
	case f.Curve != nil:
		return "curve"
	case f.Series != nil:
		return "series"
	case f.Split != nil:
		return "split"
	}
	return ""
}

func hasSection(p Page, id string) bool {
	for _, s := range p.Evidence {
		if s.ID == id {
			return true
		}
	}
	return false
}
