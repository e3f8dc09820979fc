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

// The lines that a screen may have, and its parts. The caller adds an empty line
// and the report's path, and the shell its prompt.
const (
	screenLines       = 21
	answerLines       = 7
	requirementsShown = 3
	warningsShown     = 5
	warningsLeast     = 2
	warningsOfLoads   = 1 // at least, beside a histogram
)

// Text writes the screen. The error is w's.
func (s Screen) Text(w io.Writer, opt TextOptions) error {
	t := newTerminal(opt)
	r := rest{}
	t.line("")
	if s.title != "" {
		t.line(t.bold(shortened(printable.Text(s.title), t.width)))
	}
	r.addRest(t.cut(t.wrapped(s.answer), answerLines), "line", "of the answer")
	for i, q := range s.requirements {
		if i < requirementsShown {
			t.oneLine(t.verdict(stateVerdict[q.State], cmp.Or(stateMarks[q.State], "·"))+" ", q.Text)
		}
	}
	r.addRest(len(s.requirements)-requirementsShown, "requirement", "")
	t.line("")
	for _, text := range s.answers {
		t.cut(t.wrapped(text), screenLines)
	}
	warnings := min(len(s.warnings), warningsShown)
	for warnings > s.leastWarnings() && t.heights(t.fitting(s.forms, screenLines)) > s.left(t, warnings, r) {
		warnings--
	}
	shown := t.screenTables(t.fitting(s.forms, s.left(t, warnings, r)), s.left(t, warnings, r), &r)
	for _, line := range s.totalLines(t) {
		t.oneLine("", line)
	}
	t.all(t.tallyLines(s.tally, legend(shown)))
	if warnings > 0 {
		t.line("")
	}
	for _, n := range s.warnings[:warnings] {
		t.oneLine("", n.line())
	}
	r.addRest(len(s.warnings)-warnings, "warning", "")
	if len(r.left) > 0 {
		t.all(t.restLines(strings.Join(r.left, ", "), s.full))
	}
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// left returns the lines that the tables may take beside so many warnings and the
// words on what was left out, r so far.
func (s Screen) left(t *terminal, warnings int, r rest) int {
	shown := map[compare.Verdict]bool{}
	if len(s.forms) > 0 {
		for _, tab := range s.forms[0] {
			addMarks(tab, shown)
		}
	}
	below := len(s.totalLines(t)) + len(t.tallyLines(s.tally, legend(shown))) + warnings + t.restHeight(append(slices.Clone(r.left), s.mayLeave(warnings)...), s.full)
	if warnings > 0 {
		below++
	}
	return screenLines - t.lines() - below
}

// leastWarnings are those that stay however long the tables are.
func (s Screen) leastWarnings() int {
	if s.totals != "" {
		return warningsOfLoads
	}
	return warningsLeast
}

// mayLeave is what the words on what was left out may have to hold, beside so many
// warnings.
func (s Screen) mayLeave(warnings int) []string {
	switch {
	case s.totals == "" || len(s.forms[len(s.forms)-1][0].Rows) > shortRows:
		return []string{"2 more rows", "9 more warnings"}
	case warnings < len(s.warnings):
		return []string{"9 more warnings"}
	}
	return nil
}

// restHeight is how many lines restLines takes.
func (t *terminal) restHeight(left []string, command string) int {
	if len(left) == 0 {
		return 0
	}
	return len(t.restLines(strings.Join(left, ", "), command))
}

// totalLines say what was reached, what was asked and answered in all, and what was sent.
func (s Screen) totalLines(t *terminal) []string {
	lines := slices.Concat([]string{s.settling, s.totals}, s.lengths, strings.Split(t.wrapped(s.sent), "\n"))
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
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

func (r *rest) addRest(n int, noun, of string) {
	if n > 0 {
		r.left = append(r.left, part.Joined(" ", quantity.Plural(n, "more "+noun), of))
	}
}

// restLines say what was left out and which command prints it.
func (t *terminal) restLines(what, command string) []string {
	whole := "and " + what + ": " + printable.Text(command)
	if text.StringWidthWithoutEscSequences(whole) <= t.width {
		return []string{whole}
	}
	if number, only := strings.CutSuffix(strings.TrimSuffix(what, "s"), " warning"); only && !strings.Contains(what, ",") { // they stand above
		if short := "and " + number + ": " + printable.Text(command); text.StringWidthWithoutEscSequences(short) <= t.width {
			return []string{short}
		}
	}
	return []string{shortened("and "+what+":", t.width), "  " + printable.Text(command)}
}

func (t *terminal) all(lines []string) {
	for _, line := range lines {
		t.line(line)
	}
}

// wrapped is a text in lines of the width.
func (t *terminal) wrapped(body string) string {
	whole := strings.NewReplacer(" %", joint+"%", part.NoBreak+"%", joint+"%").Replace(printable.Text(body))
	return strings.ReplaceAll(text.WrapSoft(whole, t.width), joint, " ")
}

// cut prints the first lines of a text and returns how many it left out.
func (t *terminal) cut(body string, most int) int {
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case i >= most:
			return len(lines) - most
		case i == most-1 && len(lines) > most:
			line = shortened(line+" …", t.width)
		}
		t.line(line)
	}
	return 0
}

// oneLine prints what fits of a text on one line.
func (t *terminal) oneLine(first, body string) {
	t.line(first + shortened(printable.Text(body), t.width-text.StringWidthWithoutEscSequences(first)))
}

// shortened is what fits of a text, cut at a space, with an ellipsis.
func shortened(body string, width int) string {
	if text.StringWidthWithoutEscSequences(body) <= width {
		return body
	}
	cut := text.Trim(body, width-1)
	if at := strings.LastIndex(cut, " "); at > width/2 {
		cut = cut[:at]
	}
	return strings.TrimRight(strings.TrimSuffix(cut, " …"), " .,;:") + "…"
}

// screenTables prints tables as far as the lines go, at least one row of the
// first, and returns the verdicts in them.
func (t *terminal) screenTables(tables []part.Table, lines int, r *rest) map[compare.Verdict]bool {
	shown := map[compare.Verdict]bool{}
	for i, tab := range tables {
		rows := max(lines-height(t.screenGrid(tab))+len(tab.Rows), 1)
		if i > 0 && rows < min(len(tab.Rows), 2) {
			r.addRest(len(tables)-i, "metric", "")
			break
		}
		if more := len(tab.Rows) - rows; more > 0 {
			tab.Rows = tab.Rows[:rows]
			r.addRest(more, "row", "")
		}
		r.left = append(r.left, tab.Notes...)
		addMarks(tab, shown)
		grid := t.screenGrid(tab)
		lines -= height(grid)
		t.line(grid)
	}
	return shown
}

// tallyLines say what became of the trials and what the marks mean.
func (t *terminal) tallyLines(words, marks string) []string {
	if whole := part.Joined("   ", words, marks); marks == "" || text.StringWidthWithoutEscSequences(whole) <= t.width {
		return []string{whole}
	}
	return []string{words, marks}
}

// heights is how many lines tables take.
func (t *terminal) heights(tables []part.Table) int {
	lines := 0
	for _, tab := range tables {
		lines += height(t.screenGrid(tab))
	}
	return lines
}

// fitting returns the first form that fits the width and the lines; where none
// fits both, the first that fits the width; where none does, the last without the
// columns that go beyond.
func (t *terminal) fitting(forms [][]part.Table, lines int) []part.Table {
	var narrow [][]part.Table
	for _, tables := range forms {
		if slices.ContainsFunc(tables, func(tab part.Table) bool { return text.LongestLineLen(t.screenGrid(tab)) > t.width }) {
			continue
		}
		if t.heights(tables) <= lines {
			return tables
		}
		narrow = append(narrow, tables)
	}
	switch {
	case len(narrow) > 0:
		return narrow[0]
	case len(forms) == 0:
		return nil
	}
	var cut []part.Table
	for _, tab := range forms[len(forms)-1] {
		columns := len(tab.Columns)
		for columns > 2 && text.LongestLineLen(t.screenGrid(tab.Between(1, columns))) > t.width {
			columns--
		}
		part := tab.Between(1, columns)
		if more := len(tab.Columns) - columns; more > 0 {
			part.Notes = []string{quantity.Plural(more, "more column")}
		}
		cut = append(cut, part)
	}
	return cut
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
