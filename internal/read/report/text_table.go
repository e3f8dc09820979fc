package report

import (
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"netdyno/internal/printable"
)

// notes prints what a table's figures need besides.
func (t *terminal) notes(tab Table) {
	for _, note := range tab.Notes {
		t.paragraph("  ", note)
	}
}

func (t *terminal) caption(caption string) { t.paragraph("  ", caption) }

// table prints a table that fits: columns beyond the width go below, under
// the first column again.
func (t *terminal) table(tab Table) {
	for first := 1; first < len(tab.Columns); {
		last := len(tab.Columns)
		shown := t.grid(tab.columns(first, last))
		for text.LongestLineLen(shown) > t.width && last > first+1 {
			last--
			shown = t.grid(tab.columns(first, last))
		}
		t.line(shown)
		first = last
	}
}

// columns returns the first column and those from first up to last.
func (t Table) columns(first, last int) Table {
	part := Table{Caption: t.Caption, Columns: append([]Column{t.Columns[0]}, t.Columns[first:last]...)}
	for _, row := range t.Rows {
		part.Rows = append(part.Rows, append([]Datum{row[0]}, row[first:last]...))
	}
	return part
}

// plain leaves the intervals out.
func (t Table) plain() Table {
	rows := make([][]Datum, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = slices.Clone(row)
		for j := range rows[i] {
			rows[i][j].Detail = ""
		}
	}
	t.Rows = rows
	return t
}

// charts prints each chart's table without its intervals: the page has them.
func (t *terminal) charts(charts []Chart) {
	t.each(len(charts), chartLines, "chart", func(i int) {
		c := charts[i]
		t.line("")
		t.line(t.bold(printable.Text(c.Figure.Title)))
		for _, note := range c.Notes {
			t.paragraph("  ", note)
		}
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
			t.line("  " + t.faint("… and "+plural(more, "more row")))
		}
	})
}

// profiles prints where the CPU time of each cell went; the functions stand in
// the other forms.
func (t *terminal) profiles(cells []Cell) {
	sampled := slices.DeleteFunc(slices.Clone(cells), func(c Cell) bool { return c.Profile == nil })
	t.each(len(sampled), profileLines, "cell", func(i int) {
		t.line("")
		t.line(t.bold("CPU samples" + at(printable.Text(sampled[i].Title))))
		t.caption(sampled[i].Profile.Table.Caption)
		t.table(sampled[i].Profile.Table)
	})
}

// chartRows bounds one chart's table: the front's list is as long as the
// study is large.
const chartRows = 16

// asked prints the sentence and the tables of each model or search.
func (t *terminal) asked(sections []Section) {
	for _, s := range sections {
		t.line("")
		t.line(t.bold(printable.Text(s.Title)))
		t.paragraph("", s.Note)
		for _, tab := range s.Tables {
			if !tab.Folded {
				t.caption(tab.Caption)
				t.table(tab)
			}
		}
	}
}

// grid sets a table in columns two spaces apart, units under their titles.
func (t *terminal) grid(tab Table) string {
	g := table.NewWriter()
	g.SetStyle(table.Style{
		Box:     table.BoxStyle{PaddingLeft: "  ", MiddleHorizontal: "─", PaddingRight: ""},
		Options: table.Options{SeparateHeader: false},
		Format:  table.FormatOptions{Header: text.FormatDefault},
	})
	titles, units, hasUnits := table.Row{}, table.Row{}, false
	configs := make([]table.ColumnConfig, len(tab.Columns))
	for i, c := range tab.Columns {
		titles = append(titles, t.faint(printable.Text(c.Title)))
		units = append(units, t.faint(printable.Text(c.Unit)))
		hasUnits = hasUnits || c.Unit != ""
		if c.Number {
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

func (t *terminal) datum(d Datum) string {
	s := printable.Text(d.Text)
	if d.Detail != "" {
		s += " (" + printable.Text(d.Detail) + ")"
	}
	m := mark(d.Verdict)
	switch {
	case m == "":
		return s
	case d.Text == string(d.Verdict):
		return t.verdict(d.Verdict, m+" "+s)
	}
	return t.verdict(d.Verdict, s+" "+m)
}
