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
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// The lines that a screen may have. The caller adds an empty line and the report's
// path, and the shell its prompt.
const (
	screenLines       = 21
	requirementsShown = 3
	warningsShown     = 5
	warningsLines     = 3 // of the first warnings, which stay however long the tables are
)

// Text writes the screen. Nothing of it is cut: a sentence, a warning or a row that has
// no place is counted, beside the command that prints it. The error is w's.
func (s Screen) Text(w io.Writer, opt TextOptions) error {
	t := newTerminal(opt)
	head, r := s.head(t)
	least, warnings, forms := s.leastWarnings(t), min(len(s.warnings), warningsShown), t.fitting(s.forms)
	body, whole := s.body(t, forms, warnings, screenLines-len(head), r)
	for warnings > 0 && (!whole && warnings > least || len(head)+len(body) > screenLines) {
		warnings--
		body, whole = s.body(t, forms, warnings, screenLines-len(head), r)
	}
	t.all(append(head, body...))
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// tableLines are kept below the head in any case: an empty line, two of titles, a row,
// what became of the trials, and what was left out.
const tableLines = 5 + restLines

// head is what stands above the tables, and what had no place there.
func (s Screen) head(t *terminal) (lines []string, r rest) {
	lines = append(lines, "")
	if s.title != "" {
		for _, line := range t.wrapped("", s.title) {
			lines = append(lines, t.bold(line))
		}
	}
	sentences := len(s.answer)
	for sentences > 1 && len(lines)+len(t.wrapped("", strings.Join(s.answer[:sentences], " "))) > screenLines-tableLines {
		sentences--
	}
	lines = append(lines, t.wrapped("", strings.Join(s.answer[:sentences], " "))...)
	r.add(len(s.answer)-sentences, "sentence", "of the answer")
	for i, q := range s.requirements {
		said := t.wrapped(t.verdict(stateVerdict[q.State], cmp.Or(stateMarks[q.State], "·"))+" ", q.Text)
		if i == requirementsShown || len(lines)+len(said) > screenLines-tableLines {
			r.add(len(s.requirements)-i, "requirement", "")
			break
		}
		lines = append(lines, said...)
	}
	lines = append(lines, "")
	for _, answer := range s.answers {
		lines = append(lines, t.wrapped("", answer)...)
	}
	return lines, r
}

// body is what stands below the head in so many lines, beside so many warnings: the
// first form of the tables that has the lines, else the first rows of the first; whole
// tells whether it has all rows.
func (s Screen) body(t *terminal, forms []form, warnings, room int, r rest) (lines []string, whole bool) {
	r.left = slices.Clone(r.left)
	r.add(len(s.warnings)-warnings, "warning", "")
	var warned []string
	for _, n := range s.warnings[:warnings] {
		warned = append(warned, t.wrapped("", n.line())...)
	}
	if warnings > 0 {
		warned = slices.Insert(warned, 0, "")
	}
	tallied := func(f form) []string { return slices.Concat(s.totalLines(t), t.tallyLines(s.tally, legend(f.marks()))) }
	chosen, whole := form{}, len(forms) == 0
	for i, f := range forms {
		left := rest{slices.Concat(r.left, f.left.left)}
		if whole = len(f.lines)+len(tallied(f))+len(warned)+len(left.lines(t, s.full)) <= room; whole || i == 0 {
			chosen = f
		}
		if whole {
			break
		}
	}
	said := func(f form) []string {
		return slices.Concat(f.lines, tallied(f), warned, rest{slices.Concat(r.left, f.left.left)}.lines(t, s.full))
	}
	if whole {
		return said(chosen), true
	}
	for below := 1; below <= restLines; below++ {
		if lines = said(t.firstRows(chosen, room-len(tallied(chosen))-len(warned)-below)); len(lines) <= room {
			break
		}
	}
	return lines, false
}

// leastWarnings are those that stay however long the tables are.
func (s Screen) leastWarnings(t *terminal) int {
	lines := 0
	for i, n := range s.warnings {
		if lines += len(t.wrapped("", n.line())); lines > warningsLines {
			return i
		}
	}
	return min(len(s.warnings), warningsShown)
}

// totalLines say what was reached, what was asked and answered in all, and what was sent.
func (s Screen) totalLines(t *terminal) []string {
	var lines []string
	for _, text := range slices.Concat([]string{s.settling, s.totals}, s.lengths, []string{s.sent}) {
		if text != "" {
			lines = append(lines, t.wrapped("", text)...)
		}
	}
	return lines
}

func height(grid string) int { return strings.Count(grid, "\n") + 1 }

// screenGrid is a table that begins in the first column.
func (t *terminal) screenGrid(tab part.Table) string {
	return strings.ReplaceAll(strings.TrimPrefix(t.grid(tab), "  "), "\n  ", "\n")
}

// line is one warning, or the first of several about the same.
func (n notice) line() string {
	if n.count > 1 {
		return fmt.Sprintf("%s (%d): %s", n.word, n.count, n.text)
	}
	return n.word + ": " + n.text
}

// rest is what a screen left out, in words.
type rest struct{ left []string }

// restLines bounds the lines of what was left out.
const restLines = 3

func (r *rest) add(n int, noun, of string) {
	if n > 0 {
		r.left = append(r.left, part.Joined(" ", quantity.Plural(n, "more "+noun), of))
	}
}

// lines say what was left out and which command prints it; none where nothing was.
func (r rest) lines(t *terminal, command string) []string {
	if len(r.left) == 0 {
		return nil
	}
	what := "and " + strings.Join(r.left, ", ") + ":"
	if whole := what + " " + printable.Text(command); text.StringWidthWithoutEscSequences(whole) <= t.width {
		return []string{whole}
	}
	return append(t.wrapped("", what), "  "+printable.Text(command))
}

func (t *terminal) all(lines []string) {
	for _, line := range lines {
		t.line(line)
	}
}

// form is one way of printing a screen's tables, with the number of its lines and what it
// leaves out.
type form struct {
	tables []part.Table
	lines  []string
	left   rest
}

// add puts a table below the others.
func (f *form) add(t *terminal, tab part.Table) {
	f.tables = append(f.tables, tab)
	f.lines = append(f.lines, strings.Split(t.screenGrid(tab), "\n")...)
	f.left.left = append(f.left.left, tab.Notes...)
}

// marks are the verdicts in the tables.
func (f form) marks() map[compare.Verdict]bool {
	shown := map[compare.Verdict]bool{}
	for _, tab := range f.tables {
		addMarks(tab, shown)
	}
	return shown
}

// fitting returns the forms that fit the width; where none does, the last without the
// columns that go beyond.
func (t *terminal) fitting(forms [][]part.Table) []form {
	var fit []form
	for _, tables := range forms {
		f := form{}
		for _, tab := range tables {
			f.add(t, tab)
		}
		if text.LongestLineLen(strings.Join(f.lines, "\n")) <= t.width {
			fit = append(fit, f)
		}
	}
	if len(fit) > 0 || len(forms) == 0 {
		return fit
	}
	narrow, left := form{}, 0
	for _, tab := range forms[len(forms)-1] {
		columns := len(tab.Columns)
		for columns > 2 && text.LongestLineLen(t.screenGrid(tab.Between(1, columns))) > t.width {
			columns--
		}
		left = max(left, len(tab.Columns)-columns)
		narrow.add(t, tab.Between(1, columns))
	}
	narrow.left.add(left, "column", "")
	return []form{narrow}
}

// firstRows is a form with the first rows of its tables that have so many lines, at least
// one row of the first.
func (t *terminal) firstRows(f form, lines int) form {
	short, left := form{}, 0
	for i, tab := range f.tables {
		rows := max(lines-height(t.screenGrid(tab))+len(tab.Rows), 1)
		if i > 0 && rows < min(len(tab.Rows), 2) {
			short.left.add(len(f.tables)-i, "metric", "")
			break
		}
		if more := len(tab.Rows) - rows; more > 0 {
			tab.Rows = tab.Rows[:rows]
			left += more
		}
		lines -= height(t.screenGrid(tab))
		short.add(t, tab)
	}
	short.left.add(left, "row", "")
	return short
}

// tallyLines say what became of the trials and what the marks mean.
func (t *terminal) tallyLines(words, marks string) []string {
	if whole := part.Joined("   ", words, marks); marks == "" || text.StringWidthWithoutEscSequences(whole) <= t.width {
		return []string{whole}
	}
	return []string{words, marks}
}

// addMarks notes the verdicts of a table.
func addMarks(t part.Table, shown map[compare.Verdict]bool) {
	for _, row := range t.Rows {
		for _, d := range row {
			if d.Ratio != nil {
				shown[d.Ratio.Verdict] = true
			}
		}
	}
}

// AnswerText prints the sentences that answer a run's question, and nothing else.
func AnswerText(w io.Writer, sentences []string, opt TextOptions) error {
	t := newTerminal(opt)
	t.paragraph("", strings.Join(sentences, " "))
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}
