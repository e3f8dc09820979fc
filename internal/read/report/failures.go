package report

import (
	"cmp"
	"slices"
	"strconv"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// failedID names the section of the exchanges that failed.
const failedID = "failed"

// failed lists why exchanges failed, by arm and cell, the most frequent reasons first.
func (l *layout) failed() part.Section {
	t := part.Table{
		Caption: "Exchanges that failed. Rates, times and costs are of the others.",
		Columns: slices.Concat(part.Titles("cell"), part.OfKind(part.Arms, "arm"), part.Titles("reason"), part.Figures("exchanges"), part.Titles("kind")),
	}
	l.eachFailed(func(c cells.Cell, a cells.Arm, reason, kind string, n int64) {
		t.Rows = append(t.Rows, []part.Datum{part.Word(cmp.Or(l.cell(c.Name), "all")), l.named(a.Name), part.Word(reason), part.Value(strconv.FormatInt(n, 10), ""), part.Word(kind)})
	})
	return part.Section{ID: failedID, Title: "Failed exchanges", Tables: []part.Table{part.Bounded(t)}}
}

func (l *layout) eachFailed(do func(c cells.Cell, a cells.Arm, reason, kind string, n int64)) {
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			_, _, why := a.Failures()
			for _, r := range why {
				do(c, a, r.Text, string(r.Kind), r.Count)
			}
		}
	}
}

// withFailed adds to the forms of a screen's tables, in front of them, the same with
// why exchanges failed, where any did.
func (l *layout) withFailed(forms [][]part.Table) [][]part.Table {
	several := len(l.Cells) > 1 || len(l.keys) > 1
	t := part.Table{Columns: slices.Concat(part.Figures("failed"), part.Titles("reason"))}
	if several {
		t.Columns = append(t.Columns, part.Titles("of")...)
	}
	l.eachFailed(func(c cells.Cell, a cells.Arm, reason, _ string, n int64) {
		row := []part.Datum{part.Value(strconv.FormatInt(n, 10), ""), part.Word(reason)}
		if several {
			row = append(row, part.Word(cells.ArmOf(c, a)))
		}
		t.Rows = append(t.Rows, row)
	})
	if len(t.Rows) == 0 {
		return forms
	}
	if len(forms) == 0 {
		return [][]part.Table{{t}}
	}
	var with [][]part.Table
	for _, tables := range forms {
		with = append(with, append(slices.Clone(tables), t))
	}
	return append(with, forms...)
}
