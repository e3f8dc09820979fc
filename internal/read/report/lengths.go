package report

import (
	"cmp"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/summary"
)

// lengths tells how long the replies of each arm were, where they varied.
func (l *layout) lengths() part.Section {
	bytes := func(n int64) part.Datum {
		if n == 0 {
			return part.Missing()
		}
		return part.Value(quantity.FormatBytes(float64(n)), "")
	}
	figures := part.Table{
		Caption: "Bodies of the replies of valid trials, where not all had the same length.",
		Columns: slices.Concat(part.Titles("cell"), part.OfKind(part.Arms, "arm"), part.Figures("replies", "shortest", "p50", "p99", "longest")),
	}
	shares := part.Table{Columns: slices.Concat(part.Titles("cell"), part.OfKind(part.Arms, "arm"), part.Titles("length", "share of the replies"))}
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			if a.Totals == nil || a.Totals.Lengths == nil {
				continue
			}
			v := a.Totals.Lengths
			cell := part.Word(cmp.Or(l.cell(c.Name), "all"))
			figures.Rows = append(figures.Rows, []part.Datum{
				cell, l.named(a.Name), part.Value(quantity.FormatCount(float64(v.Replies)), ""), part.Value(quantity.FormatBytes(float64(v.LeastBytes)), ""), bytes(v.P50Bytes), bytes(v.P99Bytes), bytes(v.MostBytes),
			})
			for _, row := range lengthRows(v, barColumns/2) {
				shares.Rows = append(shares.Rows, append([]part.Datum{cell, l.named(a.Name)}, row...))
			}
		}
	}
	return part.Section{ID: "lengths", Title: "Lengths of the replies", Tables: []part.Table{part.Bounded(figures), part.Bounded(shares)}}
}

// lengthRows draws lengths as bars of at most so many columns: a bound and its share.
func lengthRows(v *cells.Lengths, width int) [][]part.Datum {
	var rows [][]part.Datum
	longest := int64(1)
	for _, b := range v.Bars {
		longest = max(longest, b.Count)
	}
	for _, b := range v.Bars {
		bar := strings.Repeat(fullBar, int(float64(b.Count)/float64(longest)*float64(width)+0.5))
		share := barShare(float64(b.Count) / float64(max(v.Replies, 1)))
		rows = append(rows, part.Row("≤ "+quantity.FormatBytes(float64(b.UpToBytes)), part.Joined(" ", bar, share)))
	}
	return rows
}

// lengthsBeside puts bars of the lengths of replies beside those of the times. False where
// these are not of one load alone, which leaves room for them, or all lengths the same.
func lengthsBeside(s *summary.Summary, times part.Table) (part.Table, bool) {
	const narrow = 8 // columns of a bar
	if len(s.Loads) != 1 || s.Loads[0].Lengths == nil {
		return times, false
	}
	lengths := lengthRows(s.Loads[0].Lengths, narrow)
	both := part.Table{Columns: slices.Concat(times.Columns, part.Titles("length", "replies"))}
	for i := range max(len(times.Rows), len(lengths)) {
		row := part.Row("", "", "", "")
		if i < len(times.Rows) {
			copy(row, times.Rows[i])
		}
		if i < len(lengths) {
			copy(row[2:], lengths[i])
		}
		both.Rows = append(both.Rows, row)
	}
	return both, true
}
