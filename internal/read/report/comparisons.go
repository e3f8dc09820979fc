package report

import (
	"fmt"
	"slices"
	"strconv"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
)

// comparisons lists every comparison: the primary ones with how they were
// judged, then those that were not declared before the run.
func (l *layout) comparisons() Section {
	other := l.baseline()
	if len(l.Header.Study.Compare.Also) > 0 {
		other = "the other's"
	}
	compared := slices.Concat(columns("cell", "metric"), ofKind(Arms, "arm"), numbers("its figure", other, "ratio", "blocks"))
	judged := slices.Concat(compared, numbers("p", "adjusted p", "bound"), ofKind(Verdicts, "verdict"))
	primary := Table{Caption: "Primary comparisons, declared before the run.", Columns: judged}
	explored := Table{Columns: compared, Folded: true}
	for _, c := range l.Comparisons {
		if c.Primary {
			primary.Rows = append(primary.Rows, append(l.comparedRow(c), judgedRow(c)...))
		} else {
			explored.Rows = append(explored.Rows, l.comparedRow(c))
		}
	}
	explored.Caption = fmt.Sprintf("Not judged: explored comparisons, on every other metric (%d).", len(explored.Rows))
	return Section{
		ID: "comparisons", Title: "Comparisons",
		Note: "A ratio is the arm's figure ÷ that of " + l.baseline() + ", or of the other arm named: the geometric mean of the ratios within blocks, over the blocks that both arms have. " +
			"Its interval is Student's t on the logarithms. On a primary metric, which the study declared before the run, the interval is the one that decides: better or worse where it lies wholly outside the bound, equivalent where it lies wholly inside the margin. " +
			"Primary comparisons share the level of " + strconv.FormatFloat(l.level(), 'g', 3, 64) + " (Holm), so that even one false difference among all of them is rarer than that; p is of a difference beyond the bound. Other metrics are not judged, as among so many some differ by chance: their intervals of " + confidence(l.level()) + " hold each by itself.",
		Tables: []Table{bounded(primary), bounded(explored)},
	}
}

// comparedRow is what a comparison divides, and its ratio. An explored
// comparison whose figures may not be compared has its reason there.
func (l *layout) comparedRow(c compare.Comparison) []Datum {
	value, base := quotientOf(c)
	quotient := ratioDatum(c)
	if withheld(c) {
		quotient = Datum{Text: none, Detail: c.Reason}
	}
	arm := l.named(c.Arm)
	arm.Text = l.pairText(c)
	return []Datum{word(or(cells.Spoken(c.Cell), "all")), word(c.Metric), arm, value, base, quotient, number(strconv.Itoa(c.Blocks), "")}
}

// judgedRow is how a primary comparison was judged.
func judgedRow(c compare.Comparison) []Datum {
	p, adjusted := missing(), missing()
	if c.Ratio > 0 {
		p = number(probability(c.P), "")
		adjusted = number(probability(c.Adjusted), "")
		adjusted.Detail = fmt.Sprintf("%s over %d", or(c.Method, "none"), c.Family)
	}
	return []Datum{p, adjusted, number(percent(c.Bound), ""), {Verdict: c.Verdict, Detail: because(c.Reason, c.Decides)}}
}

// because is why something is undecided, and what would decide it.
func because(reason, decides string) string { return joined("; ", reason, decides) }

// pairText names the arm, and of a comparison with another arm than the baseline
// also what it is divided by.
func (l *layout) pairText(c compare.Comparison) string {
	if c.Base == "" || c.Base == l.Header.Study.Compare.Baseline {
		return c.Arm
	}
	return c.Arm + " ÷ " + c.Base
}

// pairTable has the cell's declared comparisons of two arms of which neither is
// the baseline; no rows where there is none.
func (l *layout) pairTable(c cells.Cell) Table {
	t := Table{
		Caption: "Other declared comparisons",
		Columns: slices.Concat(columns("arms", "metric"), numbers("its figure", "the other's", "ratio"), ofKind(Verdicts, "verdict")),
	}
	for _, cmp := range l.Comparisons {
		if !cmp.Primary || cmp.Cell != c.Name || cmp.Base == "" || cmp.Base == l.Header.Study.Compare.Baseline {
			continue
		}
		value, other := quotientOf(cmp)
		t.Rows = append(t.Rows, []Datum{word(l.pairText(cmp)), word(labelOf(cmp.Metric)), value, other, ratioDatum(cmp), {Verdict: cmp.Verdict}})
	}
	if len(t.Rows) == 0 {
		return Table{}
	}
	return t
}
