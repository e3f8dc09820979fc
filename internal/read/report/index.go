package report

import (
	"fmt"
	"html/template"
	"io"
	"slices"

	_ "embed" // the index's page

	"netdyno/internal/printable"
)

//go:embed assets/index.html
var indexHTML string

var indexTemplate = template.Must(template.New("index").Funcs(template.FuncMap{
	"mark":    mark,
	"verdict": verdictClass,
}).Parse(indexHTML))

// Entry is one study's place in an index of several.
type Entry struct {
	Name     string
	Question string
	Answers  []Answer // the most decisive first
	Link     string   // to the study's report, relative to the index; empty for none
	Tally    string   // what became of its trials, or why there is no report
}

// Entry makes the page's own entry in an index, linked to where its report
// lies.
func (p Page) Entry(link string) Entry {
	return Entry{Name: p.Title, Question: p.Question, Answers: slices.Concat(p.Answers, p.More), Link: link, Tally: p.Tally}
}

// Contents joins the reports of several studies. Build one with Index;
// renderers only read it.
type Contents struct {
	Title   string
	Entries []Entry
}

// Index lays entries out in the order in which they come. Any text is safe in
// them; no entries give an index that says so.
func Index(title string, entries []Entry) Contents {
	return Contents{Title: or(title, "netdyno reports"), Entries: entries}
}

// answersShown is how many of a study's answers an index repeats.
const answersShown = 5

// indexView is what the template sees beside the index.
type indexView struct {
	Title  string
	Parts  []indexPart
	Policy string
	Style  template.CSS
	Marks  string
}

type indexPart struct {
	Entry
	ID    string
	Shown []Answer
	More  int
}

// HTML writes the index as one file that refers to nothing but the reports.
// The error is w's.
func (c Contents) HTML(w io.Writer) error {
	v := indexView{
		Title:  c.Title,
		Policy: fmt.Sprintf("default-src 'none'; style-src '%s'; img-src data:", digest(styleSheet)),
		Style:  template.CSS(styleSheet),
		Marks:  marks,
	}
	for i, e := range c.Entries {
		shown, more := leading(e.Answers)
		v.Parts = append(v.Parts, indexPart{Entry: e, ID: fmt.Sprintf("study-%d", i+1), Shown: shown, More: more})
	}
	if err := indexTemplate.Execute(printable.NewWriter(w), v); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// leading returns the answers that an index repeats and how many it leaves.
func leading(answers []Answer) (shown []Answer, more int) {
	if len(answers) <= answersShown+1 {
		return answers, 0
	}
	return answers[:answersShown], len(answers) - answersShown
}

// Text writes the index for a terminal. The error is w's.
func (c Contents) Text(w io.Writer, opt TextOptions) error {
	t := newTerminal(opt)
	t.line("")
	t.line(t.bold(printable.Text(c.Title)))
	if len(c.Entries) == 0 {
		t.line("no study was run")
	}
	for _, e := range c.Entries {
		t.line("")
		t.title(e.Name, e.Question)
		shown, more := leading(e.Answers)
		for _, a := range shown {
			t.answer(a)
		}
		if more > 0 {
			t.line(t.faint(fmt.Sprintf("… and %s in its report", plural(more, "more answer"))))
		}
		t.paragraph("", e.Tally)
		if e.Link != "" {
			t.paragraph("→ ", e.Link)
		}
	}
	t.line("")
	t.line(t.faint(marks))
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}
