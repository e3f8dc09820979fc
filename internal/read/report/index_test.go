package report

import (
	"io"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
)

func sampleIndex() Contents {
	bare := finding.Findings{}
	bare.Header.Study.Name = "calibrate"
	return Index("netdyno tour", []Entry{
		New(sample(6)).Entry("event-loops/report.html"),
		New(bare).Entry("calibrate/report.html"),
		{Name: "line-rate", Question: "What fills a fast link?", Tally: "not run: no RDMA device on seat server"},
	})
}

func TestIndexGolden(t *testing.T) {
	c := sampleIndex()
	golden(t, "index.html.golden", withoutAssets(render(t, c.HTML)))
	golden(t, "index-100.golden", render(t, func(w io.Writer) error { return c.Text(w, TextOptions{}) }))
}

func TestIndexKeepsHostileTextAsText(t *testing.T) {
	c := Index(hostile, []Entry{
		{Name: hostile, Question: hostile, Answer: []string{hostile}, Link: "javascript:alert(1)", Tally: hostile, Expected: []part.Outcome{{Title: hostile, Here: hostile, Ground: hostile}}},
		{Name: "quoted", Link: `a" onclick="alert(1)`},
	})
	html := string(render(t, c.HTML))
	for _, bad := range []string{"<script>alert", "javascript:", `" onclick`} {
		if strings.Contains(html, bad) {
			t.Errorf("the index holds %s", bad)
		}
	}
	text := string(render(t, func(w io.Writer) error { return c.Text(w, TextOptions{}) }))
	if strings.ContainsAny(text, "\x1b\u202e") {
		t.Error("an escape sequence of a name reached the terminal")
	}
}

func TestAnEmptyIndexSaysSo(t *testing.T) {
	if text := string(render(t, func(w io.Writer) error { return Index("", nil).Text(w, TextOptions{}) })); !strings.Contains(text, "no study was run") {
		t.Errorf("an empty index says: %s", text)
	}
}
