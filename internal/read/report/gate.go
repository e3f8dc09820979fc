package report

import (
	"io"
	"slices"
	"strings"

	"netdyno/internal/printable"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
)

// passages are what a gate says, in words and as a mark for a table.
var passages = map[compare.GateResult]struct{ words, mark string }{
	compare.NoWorse:  {"no worse", "✓ no worse"},
	compare.IsWorse:  {"worse", "✗ worse"},
	compare.Unproven: {"cannot tell", "? cannot tell"},
}

// Gate is what a gate found, for a pull request.
type Gate struct {
	Passage  compare.GateResult
	table    Table
	requires Table
	judged   string
	doubts   []string
	words    string
	title    string
}

// NewGate lays a gate's findings out.
func NewGate(f finding.Findings, passage compare.GateResult, all []compare.Gated) Gate {
	l := newLayout(f)
	g := Gate{Passage: passage, words: passages[passage].words, judged: strings.Join(l.judged(), " "), doubts: compare.Caveats(f.Run)}
	if passage == compare.IsWorse && !slices.ContainsFunc(all, func(c compare.Gated) bool { return c.Result == compare.IsWorse }) {
		g.words = "a requirement is broken"
	}
	g.title = "netdyno gate, " + or(f.Header.Study.Name, "a study") + ": " + g.words
	g.table = Table{Caption: "Figures are means over the blocks that both arms have.", Columns: head("arm", "against", "cell", "metric", "#arm's figure", "#the other's", "#ratio", confidence(l.level())+" interval", "gate", "because")}
	for _, c := range all {
		value, base := quotientOf(c.Comparison)
		g.table.Rows = append(g.table.Rows, words(c.Arm, c.Base, or(c.Cell, "all"), labelOf(c.Metric), value, base, ratioOrNone(c.Comparison),
			intervalOrNone(c.Comparison), passages[c.Result].mark, because(c.Reason, c.Decides, c.Result)))
	}
	g.requires = Table{Columns: head("requirement", "cell", "#found", confidence(l.level())+" interval", "gate", "because")}
	for _, r := range f.Requirements {
		value, interval := measured(r)
		g.requires.Rows = append(g.requires.Rows, words(r.Text, or(r.Cell, "all"), value, interval, stateMarks[r.State]+" "+string(r.State), because(r.Reason, r.Decides, compare.Unproven)))
	}
	return g
}

// because is the reason of a doubt with what decides it; of anything else the
// reason alone.
func because(reason, decides string, passage compare.GateResult) string {
	if passage == compare.Unproven && decides != "" {
		return reason + "; " + decides
	}
	return reason
}

// Markdown writes the gate as a heading, its tables and how it was judged.
func (g Gate) Markdown(w io.Writer) error {
	m := markdown{}
	m.heading(3, g.title)
	m.table(g.table)
	m.table(g.requires)
	if len(g.doubts) > 0 {
		m.paragraph("In doubt: " + strings.Join(g.doubts, "; ") + ".")
	}
	m.paragraph(g.judged)
	_, err := io.WriteString(w, printable.Lines(strings.TrimSpace(m.out.String()))+"\n")
	return err
}

// String is the verdict in a line, with what leaves it open besides comparisons.
func (g Gate) String() string {
	if g.Passage == compare.Unproven && len(g.doubts) > 0 {
		return "gate: " + g.words + ": " + strings.Join(g.doubts, "; ")
	}
	return "gate: " + g.words
}
