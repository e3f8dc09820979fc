package report

import (
	"fmt"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/summary"
)

// matrixCells bounds the columns of a matrix; the tables of cells have the others.
const matrixCells = 24

// matrix are the tables of a run with several cells that have all of them: of the ratios,
// and of the loads of servers that are their user's own.
func (l *layout) matrix() []part.Table {
	if l.Mesh != nil || l.Capacity != nil || len(l.Cells) < 2 || len(l.Header.Study.Vary) == 0 {
		return nil
	}
	if own := summary.Of(l.Findings); own != nil {
		t := loadTable(own, 0)
		t.Caption = "Every load: sums, and means over blocks."
		return append(l.ratios(), part.Bounded(t))
	}
	return l.ratios()
}

// ratios has a table for each primary metric: a row for each arm but the baseline, a
// column for each cell.
func (l *layout) ratios() []part.Table {
	shown := l.Cells[:min(len(l.Cells), matrixCells)]
	var tables []part.Table
	for _, name := range l.Header.Study.Compare.Primary {
		t := part.Table{Caption: fmt.Sprintf("%s ÷ that of %s", part.Label(name), l.baseline()), Columns: part.OfKind(part.Arms, "arm")}
		for _, c := range shown {
			t.Columns = append(t.Columns, part.Figures(l.cell(c.Name))...)
		}
		for _, arm := range l.Header.Study.Vary[0].Levels {
			if row, compared := l.effectsOf(arm, name, shown); compared {
				t.Rows = append(t.Rows, row)
			}
		}
		if more := len(l.Cells) - len(shown); more > 0 {
			t.Notes = append(t.Notes, quantity.Plural(more, "more cell")+" below.")
		}
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

// effectsOf is an arm's row of a matrix; false when no cell compares the arm with
// the baseline.
func (l *layout) effectsOf(arm, metric string, shown []cells.Cell) (row []part.Datum, compared bool) {
	row = []part.Datum{l.named(arm)}
	for _, cell := range shown {
		d := part.Datum{}
		for _, c := range l.Comparisons {
			if !c.Primary || c.Cell != cell.Name || c.Metric != metric || c.Arm != arm || c.Base != l.baseline() {
				continue
			}
			d, compared = part.Quotient(c), true
		}
		row = append(row, d)
	}
	return row, compared
}
