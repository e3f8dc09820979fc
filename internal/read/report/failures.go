package report

import (
	"slices"
	"strconv"

	"netdyno/internal/read/cells"
)

// failedID names the section of the exchanges that failed.
const failedID = "failed"

// failed lists why exchanges failed, by arm and cell, the most frequent reasons first.
func (l *layout) failed() Section {
	t := Table{
		Caption: "Exchanges that failed. Rates, times and costs are of the others.",
		Columns: slices.Concat(columns("cell"), ofKind(Arms, "arm"), columns("reason"), numbers("exchanges"), columns("kind")),
	}
	l.eachFailed(func(c cells.Cell, a cells.Arm, reason, kind string, n int64) {
		t.Rows = append(t.Rows, []Datum{word(or(c.Name, "all")), l.named(a.Name), word(reason), number(strconv.FormatInt(n, 10), ""), word(kind)})
	})
	return Section{ID: failedID, Title: "Failed exchanges", Tables: []Table{bounded(t)}}
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
func (l *layout) withFailed(forms [][]Table) [][]Table {
	several := len(l.Cells) > 1 || len(l.keys) > 1
	t := Table{Columns: slices.Concat(numbers("failed"), columns("reason"))}
	if several {
		t.Columns = append(t.Columns, columns("of")...)
	}
	l.eachFailed(func(c cells.Cell, a cells.Arm, reason, _ string, n int64) {
		row := []Datum{number(strconv.FormatInt(n, 10), ""), word(reason)}
		if several {
			row = append(row, word(cells.ArmOf(c, a)))
		}
		t.Rows = append(t.Rows, row)
	})
	if len(t.Rows) == 0 {
		return forms
	}
	if len(forms) == 0 {
		return [][]Table{{t}}
	}
	var with [][]Table
	for _, tables := range forms {
		with = append(with, append(slices.Clone(tables), t))
	}
	return append(with, forms...)
}
