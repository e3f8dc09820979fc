package report

import (
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
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
	for _, m := range metric.All() {
		if label := part.Label(m.Name); label == m.Name {
			t.Errorf("%s has no label", m.Name)
		}
		bare := slices.Contains(metric.SlowdownNames(), m.Name) // a time ÷ a time
		if s := part.ScaleFor(m.Name, 1); (s.Unit == "") != bare || s.Unit == "1" || s.Unit == "share" {
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

const writeBuffer, readBuffer = "opt.server.write_buffer", "opt.server.read_buffer"

// foundAsked returns the findings of a synthetic study that asks for a chart
// of every form, a fit and profiles.
func foundAsked(t *testing.T) finding.Findings {
	t.Helper()
	o := synthetic.Options{
		Connections: []int{1, 100, 1000}, SD: 0.02, Seed: 7, Blocks: 6, Bare: true,
		Probes: []synthetic.Stack{
			{Functions: []string{"encoding/json.Marshal", "netdyno/internal/work/codec.Encode"}, CPU: 300 * time.Millisecond},
			{Functions: []string{"syscall.Syscall", "net.(*conn).Write"}, CPU: 400 * time.Millisecond},
		},
		Memory: func(levels map[string]string) float64 {
			return 9e6 + count(t, levels["connections"])*(40e3+0.5*count(t, levels[writeBuffer])+count(t, levels[readBuffer]))
		},
	}
	for i, write := range []string{"0B", "32KiB", "128KiB"} {
		for _, read := range []string{"0B", "128KiB"} {
			o.Arms = append(o.Arms, synthetic.Arm{
				Name: "w" + write + "-r" + read, Server: "go-net", Speed: 1 + 0.1*float64(i),
				Levels: map[string]string{writeBuffer: write, readBuffer: read},
			})
		}
	}
	header, trials, records := synthetic.Run(o)
	header.Study.Charts = []record.Chart{
		{Kind: record.Lines, Metric: "exchanges_per_s", X: "connections", By: "arm"},
		{Kind: record.Lines, Metric: "server.idle_rss_bytes", X: writeBuffer, By: "connections", Where: map[string]string{readBuffer: "0B"}},
		{Kind: record.Heat, Metric: "exchanges_per_s", X: writeBuffer, Y: readBuffer, Where: map[string]string{"connections": "1000"}},
		{Kind: record.Front, Metric: "exchanges_per_s", Against: "server.idle_rss_bytes"},
	}
	header.Study.Expect = []record.Expectation{{Title: "Memory grows with both buffers", That: []string{"server.idle_rss_bytes per connections = 2 × " + writeBuffer + " + 1 × " + readBuffer + " ± 25 %"}}}
	f, err := finding.Find(header, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func count(t *testing.T, level string) float64 {
	t.Helper()
	n, err := quantity.ParseBytes(level)
	if err != nil {
		t.Fatal(err)
	}
	return float64(n)
}

func TestWhatAStudyAsksForIsDrawn(t *testing.T) {
	p := New(foundAsked(t))
	for i, kind := range []string{"lines", "lines", "heat", "front"} {
		c := sectionsOf(p, "charts")[i]
		if kindOf(Figure{Figure: *c.Figure}) != kind || len(c.Tables[0].Rows) < 2 {
			t.Errorf("%s: %q with %d rows, want %s", c.Title, kindOf(Figure{Figure: *c.Figure}), len(c.Tables[0].Rows), kind)
		}
	}
	if n := len(sectionsOf(p, "charts")[0].Figure.Lines.Lines); n != 6 {
		t.Errorf("%d lines, want one for each of 6 arms", n)
	}
	if n := len(sectionsOf(p, "charts")[2].Figure.Heat.Boxes); n != 6 {
		t.Errorf("%d boxes, want 3 × 2", n)
	}
	terms := sectionsOf(p, "expect")[1].Tables[0].Rows
	if len(terms) != 2 || terms[0][5].Text == terms[1][5].Text {
		t.Errorf("0.5 and 1 beside 2 and 1: %+v", terms)
	}
	for _, c := range p.Cells {
		if c.Profile == nil || len(c.Profile.Table.Rows) != 12 {
			t.Errorf("%s: profiles of 6 arms at both ends make %+v", c.Title, c.Profile)
		}
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
	case f.Lines != nil:
		return "lines"
	case f.Heat != nil:
		return "heat"
	case f.Front != nil:
		return "front"
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
