package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/text"

	"netdyno/internal/printable"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// Text writes the answers, one table per cell and the warnings: what fits a
// terminal. The evidence is in the other two forms. The error is w's.
func (p Page) Text(w io.Writer, opt TextOptions) error {
	t := newTerminal(opt)
	t.header(p)
	t.matrix(p.Matrix)
	for _, a := range p.Parts {
		t.each(len(a.Sections), cmp.Or(a.Lines, 1<<30), "section", func(i int) { t.section(a.Sections[i]) })
	}
	t.each(len(p.Cells), cellLines, "cell", func(i int) { t.cell(p.Cells[i]) })
	t.profiles(p.Cells)
	t.failed(p.Evidence)
	t.warnings(p.Warnings)
	t.line("")
	t.line(marks)
	_, err := io.WriteString(w, t.out.String())
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (t *terminal) header(p Page) {
	t.line("")
	t.title(p.Title, p.Question)
	t.paragraph("", p.Made)
	t.line("")
	for _, said := range p.Answer {
		t.paragraph("", said)
	}
	for _, tab := range p.Tables {
		t.line("")
		t.answerTable(tab)
	}
	t.line("")
	t.paragraph("", p.Tally)
	for _, how := range p.Judged {
		t.paragraph("", how)
	}
}

// matrix prints the effects in every cell, without their intervals where these
// would not fit.
func (t *terminal) matrix(tables []part.Table) {
	for _, m := range tables {
		t.heading(printable.Text(m.Caption))
		if text.LongestLineLen(t.grid(m)) > t.width {
			m = m.WithoutIntervals()
		}
		t.table(m)
		t.notes(m.Notes)
	}
}

// The lines that cells and profiles may take: a screen or two of each, however large the
// study.
const (
	cellLines    = 110
	profileLines = 40
)

// section prints a section without its drawing, and without the folded tables that have no
// form for a terminal.
func (t *terminal) section(s part.Section) {
	t.heading(printable.Text(s.Title))
	for _, text := range s.Sentences {
		t.paragraph("", text)
	}
	t.notes(s.Notes)
	for _, tab := range s.Tables {
		if tab.Terminal != nil {
			tab = *tab.Terminal
		} else if tab.Folded {
			continue
		}
		if len(tab.Rows) > 0 {
			t.caption(tab.Caption)
			t.table(tab)
		}
		t.notes(tab.Notes)
	}
}

// profiles prints where the CPU time of each cell went; the functions stand in
// the other forms.
func (t *terminal) profiles(cells []Cell) {
	sampled := slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return c.Profile == nil })
	t.each(len(sampled), profileLines, "cell", func(i int) {
		t.heading("CPU samples at " + printable.Text(sampled[i].Title))
		t.caption(sampled[i].Profile.Table.Caption)
		t.table(sampled[i].Profile.Table)
		for _, d := range sampled[i].Profile.Differences {
			if d.Sentence != "" {
				t.paragraph("", d.Sentence)
			}
		}
	})
}

// failed prints the section of why exchanges failed.
func (t *terminal) failed(evidence []part.Section) {
	for _, s := range evidence {
		if s.ID == failedID {
			t.section(s)
		}
	}
}

func (t *terminal) warnings(warnings []Warning) {
	if len(warnings) == 0 {
		return
	}
	t.heading("Warnings")
	for _, w := range warnings {
		body := w.Text
		if w.Advice != "" {
			body += " → " + w.Advice
		}
		t.paragraph("! ", cmp.Or(w.About, "warning")+": "+body)
	}
}

// title prints a study's name and question.
func (t *terminal) title(name, question string) {
	title := printable.Text(name)
	if question != "" {
		title += ": " + printable.Text(question)
	}
	for _, line := range t.wrapped("", title) {
		t.line(t.bold(line))
	}
}

// SpreadText writes for a terminal what a calibrated machine tells of some
// metrics.
func SpreadText(w io.Writer, c *record.Calibration, metrics []string, opt TextOptions) error {
	t := newTerminal(opt)
	t.table(spreadTable(c, metrics))
	_, err := io.WriteString(w, t.out.String())
	return err
}
