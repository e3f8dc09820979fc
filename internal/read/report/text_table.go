package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"netdyno/internal/printable"
	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// notes prints what a table's figures need said besides.
func (t *terminal) notes(notes []string) {
	for _, note := range notes {
		t.paragraph("  ", note)
	}
}

func (t *terminal) caption(caption string) { t.paragraph("  ", caption) }

// table prints a table that fits: columns beyond the width go below, under
// the first column again.
func (t *terminal) table(tab part.Table) {
	for first := 1; first < len(tab.Columns); {
		last := len(tab.Columns)
		shown := t.grid(tab.Between(first, last))
		for text.LongestLineLen(shown) > t.width && last > first+1 {
			last--
			shown = t.grid(tab.Between(first, last))
		}
		t.line(shown)
		first = last
	}
}

// grid sets a table in columns two spaces apart, units under their titles.
func (t *terminal) grid(tab part.Table) string {
	g := table.NewWriter()
	g.SetStyle(table.Style{
		Box:     table.BoxStyle{PaddingLeft: "  ", MiddleHorizontal: "─", PaddingRight: ""},
		Options: table.Options{SeparateHeader: false},
		Format:  table.FormatOptions{Header: text.FormatDefault},
	})
	titles, units, hasUnits := table.Row{}, table.Row{}, false
	configs := make([]table.ColumnConfig, len(tab.Columns))
	for i, c := range tab.Columns {
		titles = append(titles, printable.Text(c.Title))
		units = append(units, printable.Text(c.Unit))
		hasUnits = hasUnits || c.Unit != ""
		if c.Number() {
			configs[i] = table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight}
		} else {
			configs[i] = table.ColumnConfig{Number: i + 1, Align: text.AlignLeft, AlignHeader: text.AlignLeft}
		}
	}
	g.SetColumnConfigs(configs)
	g.AppendHeader(titles)
	if hasUnits {
		g.AppendHeader(units)
	}
	for _, row := range tab.Rows {
		cells := table.Row{}
		for _, d := range row {
			cells = append(cells, t.datum(d))
		}
		g.AppendRow(cells)
	}
	lines := strings.Split(g.Render(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// datum prints a value with its interval and its mark on one line.
func (t *terminal) datum(d part.Datum) string {
	if d.Verdict != "" {
		return t.verdict(d.Verdict, mark(d.Verdict)) + " " + string(d.Verdict) + printable.Text(part.Bracketed(d.Detail))
	}
	parts := []string{printable.Text(d.Text)}
	if d.Figure != nil {
		parts = append(parts, printable.Text(d.Figure.Full()))
	}
	if r := d.Ratio; r != nil {
		parts = append(parts, cmp.Or(r.Text, part.None)+part.Bracketed(r.Interval), t.verdict(r.Verdict, mark(r.Verdict)))
	}
	return part.Joined(" ", parts...) + printable.Text(part.Bracketed(d.Detail))
}

// TextOptions fit the text to where it is shown.
type TextOptions struct {
	Width int  // columns; 0 means 100, less than 60 counts as 60
	Color bool // titles in bold, marks in colours that are readable on light and dark; never the only carrier of a meaning
}

// terminal collects what is printed, in lines that fit.
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

// heading begins a part: a blank line and its title.
func (t *terminal) heading(title string) {
	t.line("")
	t.line(t.bold(title))
}

// joint stands for a space at which a line must not be wrapped: a character of
// width 1 that no text has, as printable.Text leaves none for private use.
const joint = "\ue000"

// wrapped is a text in lines of the width, later lines indented under the first.
func (t *terminal) wrapped(first, body string) []string {
	indent := text.StringWidthWithoutEscSequences(first)
	whole := strings.NewReplacer(" %", joint+"%", part.NoBreak+"%", joint+"%").Replace(printable.Text(body))
	lines := strings.Split(text.WrapSoft(whole, t.width-indent), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(first+strings.ReplaceAll(strings.TrimSpace(line), joint, " "), " ")
		first = strings.Repeat(" ", indent)
	}
	return lines
}

// paragraph prints a text wrapped.
func (t *terminal) paragraph(first, body string) { t.all(t.wrapped(first, body)) }

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

func (t *terminal) bold(s string) string { return t.paint(s, text.Bold) }

func (t *terminal) verdict(v compare.Verdict, s string) string {
	switch v {
	case compare.Better:
		return t.paint(s, text.FgGreen)
	case compare.Worse:
		return t.paint(s, text.FgRed)
	case compare.CannotTell, compare.Invalid, compare.Unsupported:
		return t.paint(s, text.FgMagenta)
	}
	return s
}

// lines counts what was written so far.
func (t *terminal) lines() int { return strings.Count(t.out.String(), "\n") }

// each calls write for 0, 1, … until n, or until the lines it wrote reach the
// bound, and says how many of what it left out.
func (t *terminal) each(n, bound int, what string, write func(i int)) {
	start := t.lines()
	for i := range n {
		if t.lines()-start >= bound {
			t.line("")
			t.line(fmt.Sprintf("and %s; see report.html", quantity.Plural(n-i, "more "+what)))
			return
		}
		write(i)
	}
}
