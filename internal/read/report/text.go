package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"netdyno/internal/printable"
	"netdyno/internal/quantity"
)

// Text writes the answers, one table per cell and the warnings: what fits a
// terminal. The evidence is in the other two forms. The error is w's.
func (p Page) Text(w io.Writer, opt TextOptions) error {
	t := newTerminal(opt)
	t.header(p)
	t.matrix(p.Matrix)
	t.ladders(p.Ladders)
	t.sections(slices.Concat(p.Mesh, p.Race, p.Capacity))
	t.charts(p.Charts)
	t.sections(slices.Concat(p.Fits, p.Searches, p.Choices, p.Pays, p.Costs, p.Shapes, p.Claims))
	t.each(len(p.Cells), cellLines, "cell", func(i int) { t.cell(p.Cells[i]) })
	t.profiles(p.Cells)
	t.server(p.Server)
	t.published(p.Published)
	t.failed(p.Evidence)
	t.lost(p.Lost)
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
	t.paragraph("", strings.Join(p.Answer, " "))
	if len(p.Requirements) > 0 {
		t.line("")
	}
	for _, r := range p.Requirements {
		t.paragraph(t.verdict(stateVerdict[r.State], or(stateMarks[r.State], "·"))+" ", r.Text)
	}
	t.line("")
	t.paragraph("", p.Tally)
	for _, how := range p.Judged {
		t.paragraph("", how)
	}
	for _, caveat := range p.Caveats {
		t.paragraph("! ", caveat)
	}
}

// matrix prints the effects in every cell, without their intervals where these
// would not fit.
func (t *terminal) matrix(tables []Table) {
	for _, m := range tables {
		t.heading(printable.Text(m.Caption))
		if text.LongestLineLen(t.grid(m)) > t.width {
			m = m.withoutIntervals()
		}
		t.table(m)
		t.notes(m.Notes)
	}
}

// The lines that charts, ladders, cells and profiles may take: a screen or two of each,
// however large the study.
const (
	chartLines   = 90
	cellLines    = 110
	profileLines = 40
	ladderLines  = 60
)

// chartRows bounds one chart's table: that of a Pareto front is as long as the
// study is large.
const chartRows = 16

// charts prints each chart's table without its intervals: the page has them.
func (t *terminal) charts(charts []Chart) {
	t.each(len(charts), chartLines, "chart", func(i int) {
		c := charts[i]
		t.heading(printable.Text(c.Figure.Title))
		t.notes(c.Notes)
		if len(c.Table.Rows) == 0 {
			return
		}
		t.caption(c.What)
		shown := c.Table.plain()
		more := len(shown.Rows) - chartRows
		if more > 0 {
			shown.Rows = shown.Rows[:chartRows]
		}
		t.table(shown)
		if more > 0 {
			t.line("  … and " + quantity.Plural(more, "more row"))
		}
	})
}

// ladders prints what each step has of its whole; the intervals of the figures stand
// in the sentences and in the other forms.
func (t *terminal) ladders(ladders []Ladder) {
	t.each(len(ladders), ladderLines, "ladder", func(i int) {
		part := ladders[i]
		t.heading(printable.Text(part.Figure.Title))
		t.notes(part.Notes)
		t.each(len(part.Cells), ladderLines, "cell", func(i int) {
			t.paragraph("", part.Cells[i].Sentence)
			if tab := part.Cells[i].Table; len(tab.Rows) > 0 {
				t.table(tab.narrow())
				t.causes(tab)
			}
		})
	})
}

// causes prints what the profiles say of each step, which is too long for a column.
func (t *terminal) causes(tab Table) {
	for _, row := range tab.Rows {
		if len(row) > stepColumns && row[stepColumns].Text != "" {
			t.paragraph("  ", joined("", row[0].Text, " by the profiles: ", row[stepColumns].Text))
		}
	}
}

// sections prints the note and the tables of each, but for the folded ones.
func (t *terminal) sections(sections []Section) {
	for _, s := range sections {
		t.heading(printable.Text(s.Title))
		t.paragraph("", s.Note)
		for _, tab := range s.Tables {
			if !tab.Folded {
				t.caption(tab.Caption)
				t.table(tab)
				t.notes(tab.Notes)
			}
		}
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
			t.paragraph("", d.Sentence)
		}
	})
}

// server prints what the server counted itself, without intervals.
func (t *terminal) server(s *Section) {
	if s == nil {
		return
	}
	shown := *s
	shown.Tables = slices.Clone(s.Tables)
	for i := range shown.Tables {
		shown.Tables[i] = shown.Tables[i].plain()
	}
	t.sections([]Section{shown})
}

// failed prints the section of why exchanges failed.
func (t *terminal) failed(evidence []Section) {
	for _, s := range evidence {
		if s.ID == failedID {
			t.sections([]Section{s})
		}
	}
}

// reasonsShown bounds the distinct reasons that the terminal gives for trials
// without a figure; every trial's own stands in the other forms.
const reasonsShown = 6

// lost says why trials have no valid figure.
func (t *terminal) lost(lost []Lost) {
	if len(lost) == 0 {
		return
	}
	t.heading("Trials without a valid figure")
	for i, l := range lost {
		if i == reasonsShown {
			t.paragraph("  ", fmt.Sprintf("… and %s; see report.html", quantity.Plural(len(lost)-i, "more reason")))
			break
		}
		t.paragraph("× ", fmt.Sprintf("%d of %s: %s: %s", l.Trials, l.Arm, l.Status, l.Reason))
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
		t.paragraph("! ", or(w.About, "warning")+": "+body)
	}
}
