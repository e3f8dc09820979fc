package report

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
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
		{Name: hostile, Question: hostile, Answers: []Answer{{Text: hostile}}, Link: "javascript:alert(1)", Tally: hostile},
		{Name: "quoted", Link: `a" onclick="alert(1)`},
	})
	html := string(render(t, c.HTML))
	for _, bad := range []string{"<script", "javascript:", `" onclick`} {
		if strings.Contains(html, bad) {
			t.Errorf("the index holds %s", bad)
		}
	}
	text := string(render(t, func(w io.Writer) error { return c.Text(w, TextOptions{}) }))
	if strings.ContainsAny(text, "\x1b\u202e") {
		t.Error("an escape sequence of a name reached the terminal")
	}
}

func TestIndexSaysHowManyAnswersItLeavesOut(t *testing.T) {
	for _, answers := range []int{0, answersShown, answersShown + 1, answersShown + 4} {
		e := Entry{Name: "many", Link: "many.html"}
		for i := range answers {
			e.Answers = append(e.Answers, Answer{Text: fmt.Sprintf("answer %d.", i)})
		}
		c := Index("", []Entry{e})
		html := string(render(t, c.HTML))
		text := string(render(t, func(w io.Writer) error { return c.Text(w, TextOptions{}) }))
		left := 0
		if answers > answersShown+1 {
			left = answers - answersShown
		}
		for form, got := range map[string]string{"html": html, "text": text} {
			if n := strings.Count(got, "answer "); n < answers-left {
				t.Errorf("%s of %d answers shows %d", form, answers, n)
			}
			if said := strings.Contains(got, fmt.Sprintf("%d more answer", left)); said != (left > 0) {
				t.Errorf("%s of %d answers: says that %d are left out: %v", form, answers, left, said)
			}
		}
	}
	if text := string(render(t, func(w io.Writer) error { return Index("", nil).Text(w, TextOptions{}) })); !strings.Contains(text, "no study was run") {
		t.Errorf("an empty index says: %s", text)
	}
}
