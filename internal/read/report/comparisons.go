package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/summary"
)

// comparisons lists every comparison: the primary ones with how they were
// judged, then those that were not declared before the run.
func (l *layout) comparisons() part.Section {
	other := l.baseline()
	if len(l.plan.Compare.Also) > 0 {
		other = "the other's"
	}
	compared := slices.Concat(part.Titles("cell", "metric"), part.OfKind(part.Arms, "arm"), part.Figures("its figure", other, "ratio", "blocks"))
	judged := slices.Concat(compared, part.Figures("p", "adjusted p", "bound"), part.OfKind(part.Verdicts, "verdict"))
	primary := part.Table{Caption: "Primary comparisons, declared before the run.", Columns: judged}
	for _, c := range l.Comparisons {
		if c.Primary {
			primary.Rows = append(primary.Rows, append(l.comparedRow(c), judgedRow(c)...))
		}
	}
	return part.Section{
		ID: "comparisons", Title: "Comparisons",
		Notes: []string{"A ratio is the arm's figure ÷ that of " + l.baseline() + ", or of the other arm named: the geometric mean of the ratios within blocks, over the blocks that both arms have; of a percentile the quotient of the two of all these blocks together. " +
			"Its interval is Student's t on the logarithms. On a primary metric, which the study declared before the run, the interval is the one that decides: better or worse where it lies wholly outside the bound, equivalent where it lies wholly inside the margin. " +
			"Primary comparisons share the level of " + strconv.FormatFloat(l.level(), 'g', 3, 64) + " (Holm), so that even one false difference among all of them is rarer than that; p is of a difference beyond the bound. Other metrics are not judged, as among so many some differ by chance: their ratios stand in the tables of the cells, with intervals of " + compare.Confidence(l.level()) + " that hold each by itself."},
		Tables: []part.Table{part.Bounded(primary)},
	}
}

// comparedRow is what a comparison divides, and its ratio. An explored
// comparison whose figures may not be compared has its reason there.
func (l *layout) comparedRow(c compare.Comparison) []part.Datum {
	value, base := quotientOf(c)
	quotient := part.Quotient(c)
	if withheld(c) {
		quotient = part.Datum{Text: part.None, Detail: c.Reason}
	}
	arm := l.named(c.Arm)
	if c.Base != "" && c.Base != l.plan.Compare.Baseline {
		arm.Text += " ÷ " + l.called(c.Base)
	}
	return []part.Datum{part.Word(l.plan.Names.CellOr(c.Cell, "all")), part.Word(part.Label(c.Metric)), arm, value, base, quotient, part.Value(strconv.Itoa(c.Blocks), "")}
}

// judgedRow is how a primary comparison was judged.
func judgedRow(c compare.Comparison) []part.Datum {
	p, adjusted := part.Missing(), part.Missing()
	if c.Ratio > 0 {
		p = part.Value(part.Probability(c.P), "")
		adjusted = part.Value(part.Probability(c.Adjusted), "")
		adjusted.Detail = fmt.Sprintf("%s over %d", cmp.Or(c.Method, "none"), c.Family)
	}
	return []part.Datum{p, adjusted, part.Value(quantity.FormatShare(c.Bound), ""), {Verdict: c.Verdict, Detail: because(c.Reason, c.Decides)}}
}

// because is why something is undecided, and what would decide it.
func because(reason, decides string) string { return part.Joined("; ", reason, decides) }

// pairText names the arm, and of a comparison with another arm than the baseline
// also what it is divided by.
func (l *layout) pairText(c compare.Comparison) string {
	if c.Base == "" || c.Base == l.plan.Compare.Baseline {
		return l.called(c.Arm)
	}
	return l.called(c.Arm) + " ÷ " + l.called(c.Base)
}

// pairTable has the cell's declared comparisons of two arms of which neither is
// the baseline; no rows where there is none.
func (l *layout) pairTable(c cells.Cell) part.Table {
	t := part.Table{
		Caption: "Other declared comparisons",
		Columns: slices.Concat(part.Titles("arms", "metric"), part.Figures("its figure", "the other's", "ratio"), part.OfKind(part.Verdicts, "verdict")),
	}
	for _, cmp := range l.Comparisons {
		if !cmp.Primary || cmp.Cell != c.Name || cmp.Base == "" || cmp.Base == l.plan.Compare.Baseline {
			continue
		}
		value, other := quotientOf(cmp)
		t.Rows = append(t.Rows, []part.Datum{part.Word(l.pairText(cmp)), part.Word(part.Label(cmp.Metric)), value, other, part.Quotient(cmp), {Verdict: cmp.Verdict}})
	}
	if len(t.Rows) == 0 {
		return part.Table{}
	}
	return t
}

// matrixCells bounds the columns of a matrix; the tables of cells have the others.
const matrixCells = 24

// matrix are the tables of a run with several cells that have all of them: of the ratios,
// and of the loads of servers that are their user's own.
func (l *layout) matrix() []part.Table {
	if !l.plan.Kind.Cells || len(l.Cells) < 2 || len(l.plan.Vary) == 0 {
		return nil
	}
	if own := summary.Of(l.Findings); own != nil {
		t := loadTable(own, false, false)
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
	for _, name := range l.plan.Compare.Primary {
		t := part.Table{Caption: part.Label(name) + " ÷ " + l.baseline(), Columns: part.OfKind(part.Arms, "arm")}
		for _, c := range shown {
			t.Columns = append(t.Columns, part.Figures(l.cell(c.Name))...)
		}
		for _, arm := range l.plan.Vary[0].Levels {
			row, compared := []part.Datum{l.named(arm)}, false
			for _, c := range shown {
				d := part.Datum{}
				if arm != l.baseline() {
					d.Ratio = l.ratioTo(c, cells.Arm{Name: arm}, name)
				}
				compared = compared || d.Ratio != nil
				row = append(row, d)
			}
			if compared {
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
