package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"netdyno/internal/printable"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
)

// gateWords are what a gate says, in words and in a table.
var gateWords = map[compare.GateResult]struct{ words, mark string }{
	compare.NoWorse:  {"no worse", "✓ no worse"},
	compare.IsWorse:  {"worse", "✗ worse"},
	compare.Unproven: {"cannot tell", "? cannot tell"},
}

// Gate is what a gate found, for a pull request.
type Gate struct {
	Result       compare.GateResult
	title, words string
	comparisons  part.Table
	musts        part.Table // what must hold, and what holds here
	caveats      []string
	judged       string
}

// NewGate lays a gate's findings out.
func NewGate(f finding.Findings, result compare.GateResult, all []compare.Gated) Gate {
	l := newLayout(f)
	g := Gate{
		Result: result, words: gateWords[result].words, judged: strings.Join(l.judged(), " "), caveats: compare.Caveats(f.Run),
		comparisons: l.gatedTable(all), musts: f.Expect.Musts(),
	}
	if result == compare.IsWorse && !slices.ContainsFunc(all, func(c compare.Gated) bool { return c.Result == compare.IsWorse }) {
		g.words = "a requirement is broken"
	}
	g.title = "netdyno gate, " + cmp.Or(f.Plan().Title(), "a study") + ": " + g.words
	return g
}

func (l *layout) gatedTable(all []compare.Gated) part.Table {
	t := part.Table{Caption: "Figures are means over the blocks that both arms have. The interval decides."}
	t.Columns = slices.Concat(part.Titles("arm", "against", "cell", "metric"), part.Figures("arm's figure", "the other's", "ratio"), part.Titles("gate", "because"))
	for _, c := range all {
		value, base := quotientOf(c.Comparison)
		t.Rows = append(t.Rows, []part.Datum{
			part.Word(c.Arm), part.Word(c.Base), part.Word(l.plan.Names.CellOr(c.Cell, "all")), part.Word(part.Label(c.Metric)), value, base, part.Quotient(c.Comparison),
			part.Word(gateWords[c.Result].mark), part.Word(gateReason(c)),
		})
	}
	return t
}

// gateReason is why a comparison passes or not; of an undecided one also what
// decides it.
func gateReason(c compare.Gated) string {
	if c.Result == compare.Unproven {
		return because(c.Reason, c.Decides)
	}
	return c.Reason
}

// Markdown writes the gate as a heading, its tables and how it was judged.
func (g Gate) Markdown(w io.Writer) error {
	m := markdown{}
	m.heading(3, g.title)
	m.table(g.comparisons)
	m.table(g.musts)
	if len(g.caveats) > 0 {
		m.paragraph("Undecided because: " + strings.Join(g.caveats, "; ") + ".")
	}
	m.paragraph(g.judged)
	_, err := io.WriteString(w, printable.Lines(strings.TrimSpace(m.out.String()))+"\n")
	return err
}

// String is the verdict in a line, with what leaves it open besides comparisons.
func (g Gate) String() string {
	if g.Result == compare.Unproven && len(g.caveats) > 0 {
		return "gate: " + g.words + ": " + strings.Join(g.caveats, "; ")
	}
	return "gate: " + g.words
}
