package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/jedib0t/go-pretty/v6/text"

	"netdyno/internal/printable"
	"netdyno/internal/read/part"
)

// cell prints the columns of a cell's main table that a terminal has room for:
// figures, and behind them the ratios of the judged ones; or both one below the
// other where they do not fit beside each other.
func (t *terminal) cell(c Cell) {
	t.heading(printable.Text(c.Title))
	figures := briefOf(c.Main)
	if whole := t.grid(c.withRatios(figures)); text.LongestLineLen(whole) <= t.width {
		t.line(whole)
	} else {
		t.table(figures)
		if ratios := c.ratios(); len(ratios.Rows) > 0 {
			t.caption(ratios.Caption)
			t.line(t.grid(ratios))
		}
	}
	t.notes(slices.Concat(c.Main.Notes, c.quotients()))
	if len(c.Pairs.Rows) > 0 {
		t.caption(c.Pairs.Caption)
		t.table(c.Pairs)
	}
}

// briefOf are the columns for a terminal without intervals and ratios.
func briefOf(t part.Table) part.Table {
	var shown part.Table
	rows := make([][]part.Datum, len(t.Rows))
	for i, column := range t.Columns {
		if !column.Brief {
			continue
		}
		shown.Columns = append(shown.Columns, column)
		for k, row := range t.Rows {
			d := row[i].Plain()
			d.Ratio = nil
			rows[k] = append(rows[k], d)
		}
	}
	shown.Rows = rows
	return shown
}

// withRatios adds a column for the ratios of each judged one, before the last
// column, the limit.
func (c Cell) withRatios(t part.Table) part.Table {
	t.Columns, t.Rows = slices.Clone(t.Columns), slices.Clone(t.Rows)
	last := len(t.Columns) - 1
	for i, column := range c.Main.Columns {
		if column.Ratios != part.Judged {
			continue
		}
		t.Columns = slices.Insert(t.Columns, last, part.Column{Title: column.Title, Kind: part.Numbers, Unit: "÷ " + c.Base})
		for k := range t.Rows {
			t.Rows[k] = slices.Insert(slices.Clone(t.Rows[k]), last, c.ratio(k, i))
		}
		last++
	}
	return t
}

// ratio is the ratio of a row of the main table; of the baseline nothing, of
// another arm without one "–".
func (c Cell) ratio(row, column int) part.Datum {
	switch d := c.Main.Rows[row][column]; {
	case d.Ratio != nil:
		return part.Datum{Ratio: d.Ratio}
	case c.baseline(row):
		return part.Datum{}
	}
	return part.Missing()
}

// baseline reports whether a row of the main table is the baseline's: the arm
// that has the first colour.
func (c Cell) baseline(row int) bool {
	arm := c.Main.Rows[row][0].Arm
	return arm != nil && *arm == 0
}

// ratios has one row per arm and judged column.
func (c Cell) ratios() part.Table {
	t := part.Table{Caption: "Ratio to " + c.Base, Columns: append(part.Titles("arm", "metric"), part.Figures("ratio")...)}
	for k, row := range c.Main.Rows {
		if c.baseline(k) {
			continue
		}
		for i, column := range c.Main.Columns {
			if column.Ratios == part.Judged {
				t.Rows = append(t.Rows, []part.Datum{row[0], part.Word(column.Title), c.ratio(k, i)})
			}
		}
	}
	return t
}

// quotients says of ratios whose two figures do not stand in the table which
// figures these are.
func (c Cell) quotients() []string {
	var notes []string
	for _, row := range c.Main.Rows {
		for i, column := range c.Main.Columns {
			if r := row[i].Ratio; column.Ratios == part.Judged && r != nil && r.Of != "" {
				notes = append(notes, row[0].Text+", "+column.Title+": "+r.Text+" is "+r.Of+".")
			}
		}
	}
	return notes
}

// Text writes the account for a terminal, without its series and its record. The error
// is w's.
func (a Account) Text(w io.Writer, opt TextOptions) error {
	t := newTerminal(opt)
	t.line(t.bold("Trial " + a.ID + ": " + a.Where))
	t.paragraph("", part.Joined(" · ", a.Status, a.Started))
	if a.Reason != "" && len(a.Flags) == 0 {
		t.paragraph("! ", a.Reason)
	}
	for _, flag := range a.Flags {
		t.paragraph("! ", flag.Name+": "+flag.Text)
	}
	if a.Limit != "" {
		t.paragraph("", "Limit: "+a.Limit+part.Bracketed(a.Proof))
	}
	t.names("Levels", a.Levels)
	t.names("Settings, as the workers reported them", a.Settings)
	t.checks(a.Checks)
	if len(a.Figures) > 0 {
		figures := part.Table{Columns: []part.Column{{Title: "metric"}, {Title: "value", Kind: part.Numbers}, {Title: "unit"}}}
		for _, f := range a.Figures {
			figures.Rows = append(figures.Rows, []part.Datum{part.Word(f.Metric), part.Value(f.Text, ""), part.Word(f.Unit)})
		}
		t.heading("Figures")
		t.table(figures)
	}
	for _, worker := range a.Stderr {
		t.heading("stderr of " + worker.Name)
		t.line(worker.Text)
	}
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write trial: %w", err)
	}
	return nil
}

// names lists texts behind their names, nothing for none.
func (t *terminal) names(title string, all []Named) {
	if len(all) == 0 {
		return
	}
	t.heading(title)
	wide := 0
	for _, n := range all {
		wide = max(wide, min(len(n.Name), t.width/2))
	}
	for _, n := range all {
		t.paragraph(fmt.Sprintf("  %-*s  ", wide, n.Name), cmp.Or(n.Text, part.None))
	}
}

// checks lists the consistency checks that were made.
func (t *terminal) checks(checks []Checked) {
	if len(checks) == 0 {
		return
	}
	t.heading("Consistency checks")
	for _, c := range checks {
		if c.Found == "" {
			t.paragraph("  ✓ ", c.Name+": "+c.Asks)
		} else {
			t.paragraph("  × ", printable.Text(c.Name+": "+c.Found))
		}
	}
}
