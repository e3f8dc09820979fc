package report

import (
	"cmp"
	_ "embed" // the index's page
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/jedib0t/go-pretty/v6/text"

	"netdyno/internal/printable"
	"netdyno/internal/read/part"
)

//go:embed assets/index.html
var indexHTML string

var indexTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(parsePage().New("index").Parse(indexHTML))
})

// expectedTitle heads the statements of all studies of an index.
const expectedTitle = "What was expected, and what holds here"

// Entry is one study's place in an index of several.
type Entry struct {
	Name     string
	Question string
	Answer   []string // to its question
	Link     string   // to the study's report, relative to the index; empty for none
	Tally    string   // what became of its trials, or why there is no report
	Figure   *Figure  // the answer in absolute figures; nil for none
	Expected []part.Outcome
}

// Entry makes the page's own entry in an index, linked to where its report
// lies.
func (p Page) Entry(link string) Entry {
	e := Entry{Name: p.Title, Question: p.Question, Answer: p.Answer, Link: link, Tally: p.Tally, Figure: p.leading()}
	for _, a := range p.Parts {
		e.Expected = append(e.Expected, a.Outcomes...)
	}
	return e
}

// leading is the figure that shows the answer: the picture of the arms, or the first of the
// part that leads.
func (p Page) leading() *Figure {
	if p.Picture != nil {
		return p.Picture
	}
	for _, a := range p.Parts {
		for _, s := range a.Sections {
			if a.ID == p.Lead && s.Figure != nil {
				return &Figure{Figure: *s.Figure}
			}
		}
	}
	return nil
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
	return Contents{Title: cmp.Or(title, "netdyno reports"), Entries: entries}
}

// indexView is what the template sees beside the index.
type indexView struct {
	Title    string
	Parts    []indexPart
	Policy   string
	Style    template.CSS
	Script   template.JS
	Drawn    template.HTML // packed
	Marks    string
	Expected string // the heading of what was expected; "" when nothing was
}

type indexPart struct {
	Entry
	ID string
}

// HTML writes the index as one file that refers to nothing but the reports.
// The error is w's.
func (c Contents) HTML(w io.Writer) error {
	v := indexView{
		Title:  c.Title,
		Policy: contentPolicy(),
		Style:  template.CSS(styleSheet),
		Script: template.JS(script),
		Marks:  marks,
	}
	if c.expects() {
		v.Expected = expectedTitle
	}
	figures := []Figure{}
	for i, e := range c.Entries {
		study := indexPart{Entry: e, ID: fmt.Sprintf("study-%d", i+1)}
		if e.Figure != nil {
			own := *e.Figure
			own.ID = study.ID + "-figure"
			study.Figure, figures = &own, append(figures, own)
		}
		v.Parts = append(v.Parts, study)
	}
	var err error
	if v.Drawn, err = packJSON(drawn{Arms: []Key{}, Figures: figures}); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	if err := indexTemplate().Execute(printable.NewWriter(w), v); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// expects tells whether any study of the index has statements.
func (c Contents) expects() bool {
	return slices.ContainsFunc(c.Entries, func(e Entry) bool { return len(e.Expected) > 0 })
}

// Text writes a table for a terminal: the question, the answer, and the directory of its
// page; all else is on the page. The error is w's.
func (c Contents) Text(w io.Writer, opt TextOptions) error {
	t := newTerminal(opt)
	t.heading(printable.Text(c.Title))
	if len(c.Entries) == 0 {
		t.line("no study was run")
	}
	page := width("page")
	for _, e := range c.Entries {
		page = max(page, width(printable.Text(e.Name)))
	}
	question := max(shortestColumn, 2*(t.width-page-4)/5)
	columns := []int{question, max(shortestColumn, t.width-page-4-question), page}
	t.line("")
	t.cells(columns, "question", "answer", "page")
	for _, e := range c.Entries {
		answer := e.Tally
		if len(e.Answer) > 0 {
			answer = e.Answer[0]
		}
		t.cells(columns, cmp.Or(e.Question, e.Name), answer, e.Name)
	}
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// shortestColumn is the least width of a column of texts.
const shortestColumn = 16

// cells prints a row of texts, each folded within its column.
func (t *terminal) cells(columns []int, texts ...string) {
	lines := make([][]string, len(texts))
	most := 0
	for i, said := range texts {
		lines[i] = strings.Split(text.WrapSoft(printable.Text(said), columns[i]), "\n")
		most = max(most, len(lines[i]))
	}
	for k := range most {
		var row []string
		for i, column := range columns {
			shown := ""
			if k < len(lines[i]) {
				shown = strings.TrimSpace(lines[i][k])
			}
			row = append(row, shown+strings.Repeat(" ", max(0, column-width(shown))))
		}
		t.line(strings.TrimRight(strings.Join(row, "  "), " "))
	}
}
