package report

import (
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
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
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			if a.Totals == nil || a.Totals.Lengths == nil {
				continue
			}
			v := a.Totals.Lengths
			cell := part.Word(l.plan.Names.CellOr(c.Name, "all"))
			figures.Rows = append(figures.Rows, []part.Datum{
				cell, l.named(a.Name), part.Value(quantity.FormatCount(float64(v.Replies)), ""), part.Value(quantity.FormatBytes(float64(v.LeastBytes)), ""), bytes(v.P50Bytes), bytes(v.P99Bytes), bytes(v.MostBytes),
			})
		}
	}
	return part.Section{ID: "lengths", Title: "Lengths of the replies", Tables: []part.Table{part.Bounded(figures)}}
}
