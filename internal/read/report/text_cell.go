package report

import (
	"cmp"
	"fmt"
	"io"

	"netdyno/internal/printable"
	"netdyno/internal/read/part"
)

// cell prints a cell's figures.
func (t *terminal) cell(c Cell) {
	t.heading(printable.Text(c.Title))
	t.table(c.Main.Plain())
	t.notes(c.Main.Notes)
	if len(c.Pairs.Rows) > 0 {
		t.caption(c.Pairs.Caption)
		t.table(c.Pairs)
	}
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
