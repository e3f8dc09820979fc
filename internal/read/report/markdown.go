package report

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"netdyno/internal/printable"
	"netdyno/internal/read/part"
)

// Markdown writes the whole report but its figures as GitHub-flavoured
// Markdown. The error is w's.
func (p Page) Markdown(w io.Writer) error {
	var m markdown
	m.summary(p)
	for _, t := range p.Matrix {
		m.table(t)
	}
	for _, a := range p.Parts {
		m.heading(2, a.Title)
		for _, s := range a.Sections {
			m.section(3, s)
		}
	}
	for _, c := range p.Cells {
		m.cell(c)
	}
	for _, s := range p.Evidence {
		m.section(2, s)
	}
	m.heading(2, "Run it again")
	m.line("```sh\n" + strings.ReplaceAll(printable.Text(p.Rerun.Command), "```", "` ` `") + "\n```\n")
	m.paragraph("Seed " + p.Rerun.Seed + ". Marks: " + marks)
	if _, err := io.WriteString(w, printable.Lines(m.out.String())); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

type markdown struct{ out strings.Builder }

// summary is what the report leads with.
func (m *markdown) summary(p Page) {
	m.heading(1, p.Title)
	m.paragraph(p.Question)
	m.paragraph(p.Made)
	for _, said := range p.Answer {
		m.paragraph(said)
	}
	for _, t := range p.Tables {
		m.table(t)
	}
	m.paragraph(p.Tally)
	m.paragraph(strings.Join(p.Judged, " "))
	for _, w := range p.Warnings {
		m.item(part.Joined(" ", "**"+inline(cmp.Or(w.About, "warning"))+":**", inline(w.Text), inline(w.Advice)))
	}
	m.line("")
}

func (m *markdown) section(level int, s part.Section) {
	m.heading(level, s.Title)
	for _, text := range slices.Concat(s.Sentences, s.Notes) {
		m.paragraph(text)
	}
	for _, t := range s.Tables {
		m.table(t)
	}
}

func (m *markdown) cell(c Cell) {
	m.heading(2, c.Title)
	m.table(c.Main)
	m.table(c.Pairs)
	m.table(c.Clients)
	m.table(c.All)
	if c.Profile != nil {
		for _, d := range c.Profile.Differences {
			m.paragraph(d.Sentence)
			m.table(d.Activities)
			m.table(d.Functions)
		}
		m.table(c.Profile.Table)
		for _, t := range c.Profile.Functions {
			m.table(t)
		}
		m.files(c.Profile.Files)
	}
}

// files links to what lies beside the report.
func (m *markdown) files(files []ProfileFile) {
	if len(files) == 0 {
		return
	}
	m.line("Profiles for `go tool pprof`, speedscope and the Firefox Profiler:\n")
	for _, f := range files {
		m.item("[" + inline(f.Of) + "](" + (&url.URL{Path: f.Path}).EscapedPath() + ")")
	}
	m.line("")
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

// table prints a table with its notes; of one without rows the notes alone.
func (m *markdown) table(t part.Table) {
	if len(t.Rows) > 0 {
		m.grid(t)
	}
	for _, note := range t.Notes {
		m.paragraph(note)
	}
}

func (m *markdown) grid(t part.Table) {
	m.paragraph(t.Caption)
	var titles, rules []string
	for _, c := range t.Columns {
		title := part.Joined(", ", inline(c.Title), inline(c.Unit))
		if c.Ratios == part.NotJudged {
			title += " (not judged)"
		}
		rule := ":--"
		if c.Number() {
			rule = "--:"
		}
		titles, rules = append(titles, title), append(rules, rule)
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
}

func (m *markdown) row(cells []string) { m.line("| " + strings.Join(cells, " | ") + " |") }

// markdownDatum prints a value with all its parts on one line.
func markdownDatum(d part.Datum) string {
	text := inline(d.Text)
	if d.Strong {
		text = "**" + text + "**"
	}
	var figure, ratio, verdict string
	if d.Figure != nil {
		figure = inline(d.Figure.Full())
	}
	if r := d.Ratio; r != nil && r.Text != "" {
		ratio = inline(part.Joined(", ", r.Text+part.Bracketed(r.Interval), r.Of))
	}
	if d.Ratio != nil {
		verdict = mark(d.Ratio.Verdict)
	}
	if d.Verdict != "" {
		verdict = mark(d.Verdict) + " " + inline(string(d.Verdict))
	}
	return part.Joined(" ", part.Joined("; ", part.Joined(" ", text, figure), ratio), verdict) + inline(part.Bracketed(d.Detail))
}

// inline neutralises what Markdown or the HTML inside it would act on. A name
// with a pipe or a tag stays what it is.
var inlineEscapes = strings.NewReplacer(
	`\`, `\\`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "*", `\*`, "`", "\\`", "[", `\[`, "]", `\]`, "\n", " ", "\r", " ")

func inline(text string) string { return inlineEscapes.Replace(text) }
