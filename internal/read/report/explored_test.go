package report

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/part"
)

// Explored ratios stand under their heading, with an interval and without a
// mark; one that may not be compared is not shown.
func TestExploredRatiosStandUnderTheirHeading(t *testing.T) {
	f := sample(6)
	for i, c := range f.Comparisons {
		if c.Metric == "exchanges_per_s" && c.Arm == "go-epoll" {
			f.Comparisons[i].Ratio, f.Comparisons[i].Low, f.Comparisons[i].High = 0.94, 0.938, 0.943
		}
		if c.Metric == "client.cpu_us_per_exchange" && c.Arm == "asio" {
			f.Comparisons[i].Ratio, f.Comparisons[i].Reason = 0.7771, "it was overloaded"
		}
	}
	p := New(f)
	md, html := string(render(t, p.Markdown)), string(render(t, p.HTML))
	if n := len(regexp.MustCompile(`0\.940× \(0\.938–0\.943\) [|]`).FindAllString(md, -1)); n < len(f.Cells) {
		t.Errorf("report.md shows an explored ratio %d times without a mark, want it in the table of each cell", n)
	}
	if !strings.Contains(md, "rate, k/s (not judged)") || !strings.Contains(html, "<small>not judged</small>") {
		t.Errorf("no heading says that the ratios below it are not judged")
	}
	for form, text := range map[string]string{"md": md, "html": html, "text": string(render(t, func(w io.Writer) error { return p.Text(w, TextOptions{Width: 200}) }))} {
		if strings.Contains(text, "0.777×") || strings.Contains(text, "v-not-judged") {
			t.Errorf("%s shows a ratio that may not be compared, or colours what is not judged", form)
		}
	}
	for _, c := range p.Cells {
		seen := false
		for _, column := range c.Main.Columns[1:] {
			if seen = seen || column.Ratios == part.NotJudged; seen && slices.Contains(f.Header.Study.Compare.Primary, column.Metric) {
				t.Errorf("%s: the primary metric %s stands behind what is not judged", c.Title, column.Metric)
			}
		}
	}
}
