package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"netdyno/internal/printable"
	"netdyno/internal/read/compare"
)

// TextOptions fit the text to where it is shown.
type TextOptions struct {
	Width int  // columns; 0 means 100, less than 60 counts as 60
	Color bool // ANSI colours; never the only carrier of a meaning
}

// Text writes the answers, one table per cell and the warnings: what fits a
// terminal. The evidence is in the other two forms. The error is w's.
func (p Page) Text(w io.Writer, opt TextOptions) error {
	t := newTerminal(opt)
	t.header(p)
	t.charts(p.Charts)
	t.asked(p.Fits)
	t.asked(p.Searches)
	t.asked(p.Claims)
	t.each(len(p.Cells), cellLines, "cell", func(i int) { t.cell(p.Cells[i]) })
	t.profiles(p.Cells)
	t.served(p.Evidence)
	t.published(p.Published)
	t.failures(p.Evidence)
	t.warnings(p.Warnings)
	t.line("")
	t.line(t.faint(marks))
	_, err := io.WriteString(w, t.out.String())
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

type terminal struct {
	out   strings.Builder
	width int
	color bool
}

func newTerminal(opt TextOptions) *terminal {
	if opt.Width == 0 {
		opt.Width = 100
	}
	return &terminal{width: max(opt.Width, 60), color: opt.Color}
}

func (t *terminal) line(text string) { t.out.WriteString(strings.TrimRight(text, " ") + "\n") }

// paragraph wraps text to the width, later lines indented under the first.
func (t *terminal) paragraph(first, body string) {
	indent := text.StringWidthWithoutEscSequences(first)
	for i, line := range strings.Split(text.WrapSoft(printable.Text(body), t.width-indent), "\n") {
		if i > 0 {
			first = strings.Repeat(" ", indent)
		}
		t.line(first + strings.TrimSpace(line))
	}
}

func (t *terminal) paint(s string, colors ...text.Color) string {
	if !t.color || s == "" {
		return s
	}
	codes := make([]string, len(colors))
	for i, c := range colors {
		codes[i] = fmt.Sprint(int(c))
	}
	return "\x1b[" + strings.Join(codes, ";") + "m" + s + "\x1b[0m"
}

func (t *terminal) bold(s string) string  { return t.paint(s, text.Bold) }
func (t *terminal) faint(s string) string { return t.paint(s, text.Faint) }

func (t *terminal) verdict(v compare.Verdict, s string) string {
	switch v {
	case compare.Better:
		return t.paint(s, text.FgGreen)
	case compare.Worse:
		return t.paint(s, text.FgRed)
	case compare.CannotTell, compare.Invalid:
		return t.paint(s, text.FgYellow)
	}
	return s
}

func (t *terminal) header(p Page) {
	t.line("")
	t.title(p.Title, p.Question)
	t.paragraph("", p.Made)
	t.line("")
	for _, a := range p.Answers {
		t.answer(a)
	}
	if len(p.More) > 0 {
		t.line(t.faint(fmt.Sprintf("… and %s; the tables below have every ratio", plural(len(p.More), "more answer"))))
	}
	for _, r := range p.Requires {
		t.paragraph(t.verdict(stateVerdict[r.State], or(stateMarks[r.State], "·"))+" ", r.Text)
	}
	if len(p.Answers)+len(p.Requires) > 0 {
		t.line("")
	}
	t.paragraph("", p.Tally)
	for _, how := range p.Judged {
		t.paragraph("", how)
	}
	for _, doubt := range p.Doubts {
		t.paragraph(t.paint("! ", text.FgYellow), doubt)
	}
}

func (t *terminal) title(name, question string) {
	title := printable.Text(name)
	if question != "" {
		title += ": " + printable.Text(question)
	}
	for line := range strings.SplitSeq(text.WrapSoft(title, t.width), "\n") {
		t.line(t.bold(strings.TrimSpace(line)))
	}
}

func (t *terminal) answer(a Answer) {
	t.paragraph(t.verdict(a.Verdict, or(mark(a.Verdict), "·"))+" ", a.Text)
}

// The lines that charts, cells and profiles may take: a screen or two of each,
// however large the study.
const (
	chartLines   = 90
	cellLines    = 110
	profileLines = 40
)

// lines counts what was written so far.
func (t *terminal) lines() int { return strings.Count(t.out.String(), "\n") }

// each calls write for 0, 1, … until n, or until the lines it wrote reach the
// bound, and says how many of what it left out.
func (t *terminal) each(n, bound int, what string, write func(i int)) {
	start := t.lines()
	for i := range n {
		if t.lines()-start >= bound {
			t.line("")
			t.line(t.faint(fmt.Sprintf("… and %s; see report.html", plural(n-i, "more "+what))))
			return
		}
		write(i)
	}
}

// cell prints the compact table, or two narrower ones where it does not fit.
func (t *terminal) cell(c Cell) {
	t.line("")
	t.line(t.bold(printable.Text(c.Title)))
	compact := t.grid(c.Compact)
	if text.LongestLineLen(compact) <= t.width {
		t.line(compact)
		t.notes(c.Compact)
		return
	}
	t.table(c.Values)
	t.notes(c.Values)
	if len(c.Ratios.Rows) > 0 {
		t.caption(c.Ratios.Caption)
		t.line(t.grid(c.Ratios))
		t.notes(c.Ratios)
	}
	if c.Besides != nil {
		t.caption(c.Besides.Caption)
		t.line(t.grid(*c.Besides))
	}
}

// served prints what the server said of itself, its intervals left out.
func (t *terminal) served(evidence []Section) {
	for _, s := range evidence {
		if s.ID != servedID {
			continue
		}
		for i := range s.Tables {
			s.Tables[i] = s.Tables[i].plain()
		}
		t.asked([]Section{s})
	}
}

// reasonsShown bounds the distinct reasons that the terminal gives for trials
// without a figure; every trial's own stands in the other forms.
const reasonsShown = 6

// failures says why trials have no valid figure, like reasons together.
func (t *terminal) failures(evidence []Section) {
	count := map[string]int{}
	var reasons []string
	for _, s := range evidence {
		for _, table := range s.Tables {
			if !strings.HasPrefix(table.Caption, lostCaption) {
				continue
			}
			for _, row := range table.Rows {
				reason := row[2].Text + ": " + row[4].Text + ": " + row[5].Text
				if count[reason]++; count[reason] == 1 {
					reasons = append(reasons, reason)
				}
			}
		}
	}
	if len(reasons) == 0 {
		return
	}
	t.line("")
	t.line(t.bold("Trials without a valid figure"))
	for i, reason := range reasons {
		if i == reasonsShown {
			t.paragraph("  ", fmt.Sprintf("… and %s; see report.html", plural(len(reasons)-i, "more reason")))
			break
		}
		t.paragraph("× ", fmt.Sprintf("%d of %s", count[reason], reason))
	}
}

func (t *terminal) warnings(warnings []Warning) {
	if len(warnings) == 0 {
		return
	}
	t.line("")
	t.line(t.bold("Warnings"))
	for _, w := range warnings {
		body := w.Text
		if w.Advice != "" {
			body += " → " + w.Advice
		}
		t.paragraph(t.paint("! ", text.FgYellow), or(w.About, "warning")+": "+body)
	}
}
