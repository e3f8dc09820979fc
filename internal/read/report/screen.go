package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"netdyno/internal/printable"
	"netdyno/internal/quantity"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/read/summary"
)

// Screen is what a run leaves on a terminal: the question, the table of the answer, its
// sentence, under what it holds, the worst of what weakens it, and how much ran. Rows are
// never dropped for words.
type Screen struct {
	title    string
	tables   []part.Table
	sentence []string // with the load's course and the condition, a paragraph each
	weakens  []string // the worst first
	ran      []string // what ran, a line each
	full     string   // the command that prints everything
}

// NewScreen lays findings out for a terminal.
func NewScreen(f finding.Findings) Screen {
	l := newLayout(f)
	s := Screen{
		title: cmp.Or(l.plan.Question, l.title()), tables: l.answerTables(), sentence: l.answer(), weakens: l.weakens(),
		ran: []string{l.shortTally()}, full: "netdyno report --full " + shellWord(cmp.Or(f.Header.Directory, "DIR")),
	}
	if st := f.Look; st != nil && (st.TimeUp || l.plan.Kind.Ended && !st.Settled && st.Next == 0) {
		s.sentence = append(s.sentence, part.Sentence(f.Look.Sentence))
	}
	if own := summary.Of(f); own != nil && l.plan.Kind.Cells {
		s.ran = append([]string{own.Totals.Words()}, s.ran...)
		s.tables = l.loadTables(own, s.tables)
		s.sentence = append(s.sentence, own.LengthLines()...)
	}
	if f.Sent != nil {
		s.ran = append([]string{f.Sent.Words()}, s.ran...)
	}
	if failed := l.failedTable(); len(failed.Rows) > 0 {
		s.tables = append(s.tables, failed)
	}
	return s
}

// answerTables are those of the answer, with the arms' labels.
func (l *layout) answerTables() []part.Table {
	tables := slices.Clone(l.Findings.Answer.Tables)
	for i, t := range tables {
		if len(t.Columns) > 0 && t.Columns[0].Kind == part.Arms {
			t.Rows = slices.Clone(t.Rows)
			for k, row := range t.Rows {
				t.Rows[k] = append([]part.Datum{l.named(row[0].Text)}, row[1:]...)
				t.Rows[k][0].Detail = ""
			}
			tables[i] = t
		}
	}
	return tables
}

// shortTally says what became of the trials in one line.
func (l *layout) shortTally() string {
	rounds := quantity.Plural(l.blocks(), "round") + ", "
	if t := l.Tally; t.Planned == t.Valid && t.Planned > 1 && t.Unplanned+t.Partial+t.WarmUp == 0 {
		return rounds + quantity.Plural(t.Planned, "trial") + ", all valid"
	}
	tally, _, _ := strings.Cut(l.tally(), " · ")
	return rounds + tally
}

// weakens is what weakens the answer, the worst first, a line each: why trials are lost before
// what disturbed the others.
func (l *layout) weakens() []string {
	all := slices.Clone(l.Findings.Answer.Weakens)
	for _, w := range l.warnings() {
		if w.About != "loopback" { // the condition has it
			all = append(all, w.Text)
		}
	}
	return all
}

// Text writes the screen. The error is w's.
func (s Screen) Text(w io.Writer, opt TextOptions) error {
	t := newTerminal(opt)
	t.line("")
	if s.title != "" {
		for _, line := range t.wrapped("", s.title) {
			t.line(t.bold(line))
		}
	}
	for _, tab := range s.tables {
		t.line("")
		t.answerTable(tab)
	}
	t.line("")
	for _, said := range s.sentence {
		t.paragraph("", said)
	}
	if len(s.weakens) > 0 {
		more := ""
		if n := len(s.weakens) - 1; n > 0 {
			more = fmt.Sprintf(" (%d more: %s)", n, s.full)
		}
		t.paragraph("", "Weakened by: "+strings.TrimSuffix(s.weakens[0], ".")+more)
	}
	for _, line := range s.ran {
		t.paragraph("", line)
	}
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// set is a column of an answer's table as it is printed: texts on the right of it, and behind
// them how they stand beside the best.
type set struct {
	right           bool
	title, unit     string
	texts, relation []string
	wide, far       int // of the texts, and of the relations
}

func width(s string) int { return text.StringWidthWithoutEscSequences(s) }

// setOf lays out a column.
func (t *terminal) setOf(tab part.Table, i int) set {
	c := set{right: tab.Columns[i].Number(), title: printable.Text(tab.Columns[i].Title), unit: printable.Text(tab.Columns[i].Unit)}
	c.wide = max(width(c.title), width(c.unit))
	for _, row := range tab.Rows {
		d, relation := row[i], ""
		if d.Ratio != nil && d.Figure != nil {
			relation, d.Ratio = part.Joined(" ", d.Ratio.Text+part.Bracketed(d.Ratio.Interval), mark(d.Ratio.Verdict)), nil
		}
		shown := t.datum(d)
		c.texts, c.relation = append(c.texts, shown), append(c.relation, relation)
		c.wide, c.far = max(c.wide, width(shown)), max(c.far, width(relation))
	}
	return c
}

// columns is how wide a column is with what is behind its texts.
func (c set) columns() int {
	if c.far > 0 {
		return c.wide + 1 + c.far
	}
	return c.wide
}

// place is a text in the column, and what stands behind it.
func (c set) place(shown, relation string) string {
	room := strings.Repeat(" ", c.wide-width(shown))
	if shown = shown + room; c.right {
		shown = room + strings.TrimSuffix(shown, room)
	}
	if c.far > 0 {
		shown += " " + relation + strings.Repeat(" ", c.far-width(relation))
	}
	return shown
}

// answerTable prints a table whose figures have their relation to the best of the column
// behind them. Columns that do not fit go below, under the first column again.
func (t *terminal) answerTable(tab part.Table) {
	if tab.Caption != "" {
		t.paragraph("", tab.Caption)
	}
	var all []set
	units, whole := false, -2
	for i := range tab.Columns {
		all = append(all, t.setOf(tab, i))
		units, whole = units || all[i].unit != "", whole+2+all[i].columns()
	}
	for i := len(all) - 1; i > 0 && whole > t.width; i-- { // what the study does not judge can be left out
		if c := tab.Columns[i]; !c.Brief && (c.Metric != "" || c.Kind == part.Limits) && slices.ContainsFunc(tab.Columns, func(c part.Column) bool { return c.Brief }) {
			whole -= 2 + all[i].columns()
			all = slices.Delete(all, i, i+1)
		}
	}
	for first := 1; first < len(all); {
		last, wide := first, all[0].columns()
		for last < len(all) && (last == first || wide+2+all[last].columns() <= t.width) {
			wide += 2 + all[last].columns()
			last++
		}
		if first > 1 {
			t.line("")
		}
		shown := append([]set{all[0]}, all[first:last]...)
		t.row(shown, func(c set) (string, string) { return c.title, "" })
		if units {
			t.row(shown, func(c set) (string, string) { return c.unit, "" })
		}
		for k := range tab.Rows {
			t.row(shown, func(c set) (string, string) { return c.texts[k], c.relation[k] })
		}
		first = last
	}
	t.notes(tab.Notes)
}

// row prints what each column has in a row; nothing where none has anything.
func (t *terminal) row(columns []set, of func(set) (shown, relation string)) {
	var parts []string
	for _, c := range columns {
		parts = append(parts, c.place(of(c)))
	}
	if line := strings.Join(parts, "  "); strings.TrimSpace(line) != "" {
		t.line(line)
	}
}

func (t *terminal) all(lines []string) {
	for _, line := range lines {
		t.line(line)
	}
}

// AnswerText prints the answer to a run's question, and nothing else.
func AnswerText(w io.Writer, sentences []string, opt TextOptions) error {
	t := newTerminal(opt)
	t.paragraph("", strings.Join(sentences, " "))
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}
