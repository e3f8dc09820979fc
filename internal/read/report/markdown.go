package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"netdyno/internal/printable"
)

// Markdown writes the whole report but its figures as GitHub-flavoured
// Markdown. The error is w's.
func (p Page) Markdown(w io.Writer) error {
	var m markdown
	m.heading(1, p.Title)
	m.paragraph(p.Question)
	m.paragraph(p.Made)
	for _, a := range slices.Concat(p.Answers, p.More) {
		m.item(strings.TrimSpace("**" + or(mark(a.Verdict), "·") + "** " + inline(a.Text)))
	}
	for _, r := range p.Requires {
		m.item(strings.TrimSpace("**" + or(stateMarks[r.State], "·") + "** " + inline(r.Text)))
	}
	m.line("")
	m.paragraph(p.Tally)
	m.paragraph(strings.Join(p.Judged, " "))
	for _, doubt := range p.Doubts {
		m.item("**Doubt:** " + inline(doubt))
	}
	for _, warning := range p.Warnings {
		m.item(strings.TrimSpace("**" + inline(or(warning.About, "warning")) + ":** " + inline(warning.Text) + " " + inline(warning.Advice)))
	}
	m.line("")
	m.charts(p.Charts)
	if len(p.Fits) > 0 {
		m.heading(2, "Fitted models")
	}
	m.sections(3, p.Fits)
	if len(p.Searches) > 0 {
		m.heading(2, "Searches")
	}
	m.sections(3, p.Searches)
	if len(p.Claims) > 0 {
		m.heading(2, "Claims")
	}
	m.sections(3, p.Claims)
	for _, c := range p.Cells {
		m.cell(c)
	}
	m.sections(2, p.Evidence)
	m.heading(2, "Run it again")
	m.line("```sh\n" + strings.ReplaceAll(printable.Text(p.Rerun.Command), "```", "` ` `") + "\n```\n")
	m.paragraph("Seed " + p.Rerun.Seed + ". Marks: " + marks)
	if _, err := io.WriteString(w, printable.Lines(m.out.String())); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

type markdown struct{ out strings.Builder }

func (m *markdown) charts(charts []Chart) {
	if len(charts) > 0 {
		m.heading(2, "Charts")
	}
	for _, c := range charts {
		m.heading(3, c.Figure.Title)
		m.paragraph(c.Figure.Caption)
		for _, note := range c.Notes {
			m.paragraph(note)
		}
		m.table(c.Table)
	}
}

func (m *markdown) sections(level int, sections []Section) {
	for _, s := range sections {
		m.heading(level, s.Title)
		m.paragraph(s.Note)
		for _, t := range s.Tables {
			m.table(t)
		}
	}
}

func (m *markdown) cell(c Cell) {
	m.heading(2, c.Title)
	m.table(c.Main)
	if c.Besides != nil {
		m.table(*c.Besides)
	}
	for _, t := range c.Details {
		m.table(t)
	}
	m.table(c.All)
	if c.Profile != nil {
		m.table(c.Profile.Table)
		for _, t := range c.Profile.Functions {
			m.table(t)
		}
	}
}

func (m *markdown) line(text string) { m.out.WriteString(text + "\n") }

func (m *markdown) heading(level int, text string) {
	m.line(strings.Repeat("#", level) + " " + inline(text) + "\n")
}

func (m *markdown) paragraph(text string) {
	if text != "" {
		m.line(inline(text) + "\n")
	}
}

func (m *markdown) item(text string) { m.line("- " + text) }

func (m *markdown) table(t Table) {
	if len(t.Rows) == 0 {
		return
	}
	m.paragraph(t.Caption)
	var titles, rules []string
	for _, c := range t.Columns {
		title := inline(c.Title)
		if c.Unit != "" {
			title += ", " + inline(c.Unit)
		}
		if c.NotJudged {
			title += " (" + notJudged + ")"
		}
		titles = append(titles, title)
		if c.Number {
			rules = append(rules, "--:")
		} else {
			rules = append(rules, ":--")
		}
	}
	m.row(titles)
	m.row(rules)
	for _, row := range t.Rows {
		var cells []string
		for _, d := range row {
			cells = append(cells, markdownDatum(d))
		}
		m.row(cells)
	}
	m.line("")
	for _, note := range t.Notes {
		m.paragraph(note)
	}
}

func (m *markdown) row(cells []string) { m.line("| " + strings.Join(cells, " | ") + " |") }

func markdownDatum(d Datum) string {
	s := inline(d.Text)
	if d.Strong {
		s = "**" + s + "**"
	}
	if d.Detail != "" {
		s += " (" + inline(d.Detail) + ")"
	}
	if d.Ratio != "" {
		s += "; " + inline(d.Ratio) + " (" + inline(d.Within) + ")"
		if d.Of != "" {
			s += ", " + inline(d.Of)
		}
	}
	if m := mark(d.Verdict); m != "" && d.Text != string(d.Verdict) {
		s += " " + m
	}
	return s
}

// inline neutralises what Markdown or the HTML inside it would act on. A name
// with a pipe or a tag stays what it is.
var inlineEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "*", `\*`, "`", "\\`", "[", `\[`, "]", `\]`, "\n", " ", "\r", " ")

func inline(text string) string { return inlineEscapes.Replace(text) }
