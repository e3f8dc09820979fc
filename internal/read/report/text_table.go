package report

import (
	"cmp"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"netdyno/internal/printable"
	"netdyno/internal/read/part"
)

// notes prints what a table's figures need said besides.
func (t *terminal) notes(notes []string) {
	for _, note := range notes {
		t.paragraph("  ", note)
	}
}

func (t *terminal) caption(caption string) { t.paragraph("  ", caption) }

// captioned prints a table with its caption, nothing for an empty one.
func (t *terminal) captioned(tab part.Table) {
	if len(tab.Rows) == 0 {
		return
	}
	t.line("")
	t.paragraph("", tab.Caption)
	t.table(tab)
}

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
